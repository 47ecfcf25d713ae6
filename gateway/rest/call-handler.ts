import type { DescField, Message } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import type { Request, Response } from "express";

import { endOfTurn } from "../../runtime/micro-batch.js";
import type { Location, Route } from "../contract/contract.js";
import { valueOf } from "../contract/field-value.js";
import type { Answered, CallOptions, Outcome, Refused } from "../contract/outcome.js";
import { fillPath, prefixOf } from "../contract/path-template.js";
import { type CallHeaders, readHeaders, validateOnly } from "../http/headers.js";
import { type BodyResult, readBody } from "../http/request-body.js";
import { exchangeOf } from "../http/request-context.js";
import { type Answer, sendAnswer, sendProblem } from "../http/response.js";
import { isJsonObject } from "../json/parse-json.js";
import type { MessageWriters } from "../json/write-message.js";
import type { FieldProblem } from "../problems/field-problem.js";
import { invalidFields, malformedBody, type Problem } from "../problems/problem.js";
import { problemOf, type Refusal } from "../problems/upstream-refusal.js";
import type { Upstream } from "../upstream/upstream.js";
import { emptyRequest, readRequest } from "./request-message.js";

export interface CallDependencies {
  readonly upstream: Upstream;
  readonly writers: MessageWriters;
  readonly isDecimal: (field: DescField) => boolean;
  readonly readRefusal: (refused: Refused) => Refusal;
  readonly bodyBytesMax: number;
  /** The same for a route that takes many at once. */
  readonly bulkBytesMax: number;
  readonly callMillisMax: number;
}

/** What one call is made with. */
interface Call {
  readonly message: Message;
  readonly headers: CallHeaders;
  readonly whenGone: WhenGone;
}

/** What the gateway itself finds wrong with a request: with single fields, or with all of it. */
type Fault = { readonly fields: readonly FieldProblem[] } | { readonly whole: Problem };

/** Answers one request of the route: reads it, calls the rpc, writes what the rpc says. */
export async function handleCall(deps: CallDependencies, route: Route, req: Request, res: Response): Promise<void> {
  const headers = readHeaders(req.rawHeaders, exchangeOf(res).requestId, deps.callMillisMax);
  if (headers.isKeyUnreadable) {
    sendProblem(res, invalidFields(headers.problems));
    return;
  }
  const whenGone = clientGone(res);
  const bytesMax = route.bulk ? deps.bulkBytesMax : deps.bodyBytesMax;
  const body = route.body.kind === "none" ? undefined : checkShape(route, await readBody(req, bytesMax));
  await endOfTurn();
  if (body?.ok === false) {
    const call = { message: emptyRequest(route), headers, whenGone };
    sendProblem(res, await problemAfterKey(deps, route, call, { whole: body.problem }));
    return;
  }
  const { message, problems } = readRequest(route, deps.isDecimal, {
    pathValues: route.pathFields.map((_, index) => String(req.params[`p${String(index)}`])),
    query: queryOf(req.url),
    body: body?.json,
  });
  const call = { message, headers, whenGone };
  const faults = [...headers.problems, ...problems];
  if (faults.length > 0) {
    sendProblem(res, await problemAfterKey(deps, route, call, { fields: faults }));
    return;
  }
  const outcome = await makeCall(deps, route, call, headers);
  exchangeOf(res).batchId = outcome.batchId;
  if (outcome.ok) sendAnswer(res, answerOf(deps, route, outcome, prefixOf(req.path)));
  else sendProblem(res, problemOf(deps.readRefusal(outcome)));
}

/**
 * The problem to answer when the gateway finds a fault. Key and scope are checked before the shape
 * of the input, and only the server can check them: it is asked first, with a call that does
 * nothing. What it finds wrong with fields that the gateway has not named is added.
 */
async function problemAfterKey(deps: CallDependencies, route: Route, call: Call, fault: Fault): Promise<Problem> {
  const outcome = await makeCall(deps, route, call, { metadata: validateOnly(call.headers.metadata) });
  if (!outcome.ok && outcome.code !== status.INVALID_ARGUMENT) return problemOf(deps.readRefusal(outcome));
  if ("whole" in fault) return fault.whole;
  return invalidFields([...fault.fields, ...(outcome.ok ? [] : deps.readRefusal(outcome).errors)]);
}

async function makeCall(
  deps: CallDependencies,
  route: Route,
  call: Call,
  options: Pick<CallOptions, "metadata" | "batchKey">,
): Promise<Outcome> {
  const deadline = Date.now() + call.headers.timeoutMillis;
  const outcome = await deps.upstream.call(route.rpc, call.message, {
    ...options,
    deadline,
    whenCanceled: call.whenGone,
  });
  await endOfTurn();
  return outcome;
}

/** Has a listener called when the client goes away without its answer; at once when it has gone. */
type WhenGone = (listener: () => void) => void;

function clientGone(res: Response): WhenGone {
  return (listener) => {
    const tell = (): void => {
      if (!res.writableFinished) listener();
    };
    if (res.destroyed) tell();
    else exchangeOf(res).whenOver.push(tell);
  };
}

/** A body that is the whole message is an object, or there is nothing in it to name as wrong. */
function checkShape(route: Route, body: BodyResult): BodyResult {
  if (!body.ok || route.body.kind !== "all" || isJsonObject(body.json)) return body;
  return { ok: false, problem: malformedBody("The body must be a JSON object.") };
}

/** 200 with the resource; 201 with where it is, when the call made it. */
function answerOf(deps: CallDependencies, route: Route, outcome: Answered, prefix: string): Answer {
  const { responseField, location } = route;
  const write = responseField ? deps.writers.ofField(responseField) : deps.writers.ofMessage(route.rpc.output);
  const body = write(outcome.message);
  if (outcome.replayed) return { status: 200, headers: { "Idempotent-Replayed": "true" }, body };
  if (location === undefined) return { status: 200, headers: {}, body };
  return { status: 201, headers: { Location: prefix + fillLocation(location, outcome.message, responseField) }, body };
}

/** Throws when the server answers a call that worked without the resource that it made. */
function fillLocation({ path, fields }: Location, response: Message, responseField: DescField | undefined): string {
  const resource = responseField ? valueOf(response, responseField) : response;
  return fillPath(
    path,
    fields.map((field) => String(valueOf(resource as Message, field))),
  );
}

/** What stands behind the question mark. */
function queryOf(url: string): string {
  const mark = url.indexOf("?");
  return mark === -1 ? "" : url.slice(mark + 1);
}
