import type { Message } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import type { Request, Response } from "express";

import type { Route } from "../../contract/contract.js";
import type { RequestProblem } from "../../contract/field-problem.js";
import { JsonNumber } from "../../contract/json/parse-json.js";
import { readNumber } from "../../contract/json/read-scalar.js";
import { valueOf } from "../../contract/json-support.js";
import type { UpstreamFailure } from "../../contract/rpc.js";
import type { StreamRule } from "../../contract/stream-rule.js";
import type { StreamForm } from "../forms/stream-form.js";
import type { Callers } from "../http/admission.js";
import { readHeaders, validateOnly } from "../http/headers.js";
import type { OpenStreams } from "../http/open-streams.js";
import { contextOf } from "../http/request-context.js";
import { beginBody, sendProblem } from "../http/response.js";
import { httpVersionTooOld, invalidFields, shuttingDown, streamDeadline, tooManyStreams } from "../problems/problem.js";
import { problemOf } from "../problems/upstream-refusal.js";
import type { StreamStep, UpstreamStream } from "../upstream/streams.js";
import { type CallDependencies, problemAfterCheck, queryOf, rateLimitHeaders } from "./call-handler.js";
import { readPreconditions } from "./preconditions.js";
import { decodeRequest } from "./request-message.js";
import { StreamBody } from "./stream-body.js";

export interface StreamDependencies extends Pick<
  CallDependencies,
  "upstream" | "numbers" | "readRefusal" | "callMillisMax"
> {
  readonly streams: OpenStreams;
  readonly callers: Callers;
}

/** A route whose rpc streams its response. */
export type StreamRoute = Route & { readonly stream: StreamRule };

const LAST_EVENT_ID = "last-event-id";

/** Serves one stream in the form. A refusal before its first message is a problem, as of a call. */
export async function handleStream(
  deps: StreamDependencies,
  { route, form }: { readonly route: StreamRoute; readonly form: StreamForm },
  req: Request,
  res: Response,
): Promise<void> {
  if (!(await hasSocket(req, res))) return;
  if (deps.streams.isStopped) {
    sendProblem(res, shuttingDown());
    return;
  }
  if (route.stream.resumption === undefined && req.httpVersion === "1.0") {
    sendProblem(res, httpVersionTooOld());
    return;
  }
  const { requestId, trace } = contextOf(res);
  const headers = readHeaders(req.rawHeaders, { requestId, trace }, Infinity);
  if (headers.isKeyUnreadable) {
    sendProblem(res, invalidFields(headers.problems));
    return;
  }
  const { message, problems } = decodeRequest(route, deps.numbers, {
    pathValues: route.pathFields.map((_, index) => String(req.params[`p${String(index)}`])),
    query: queryOf(req.url),
    body: undefined,
  });
  const conditions = readPreconditions(route, message, headers);
  const fields = [...headers.problems, ...problems, ...conditions, ...resume(route.stream, message, req)];
  const upstream = deps.upstream.open(route.rpc, message, {
    metadata: fields.length > 0 ? validateOnly(headers.metadata) : headers.metadata,
    deadline: Date.now() + headers.timeoutMillis,
  });
  contextOf(res).onClosed.push(() => {
    upstream.cancel();
  });
  if (res.destroyed) upstream.cancel();
  const forgetStop = deps.streams.onStop(() => {
    sendProblem(res, shuttingDown());
  });
  const first = await firstStep(upstream, deps.callMillisMax);
  forgetStop();
  contextOf(res).rateLimitHeaders = rateLimitHeaders(upstream.rateLimit);
  if (fields.length > 0) {
    upstream.cancel();
    const failure = first.kind === "end" ? first.failure : undefined;
    sendProblem(res, problemAfterCheck(deps.readRefusal, failure, { fields }));
  } else if (first.kind === "end" && first.failure !== undefined) {
    sendProblem(res, problemOf(deps.readRefusal(first.failure), false));
  } else {
    await serve(
      deps,
      { route, form, fileHeaders: fileHeaders(form, req.path, fileWords(route, message, first)), upstream, first },
      req,
      res,
    );
  }
}

/**
 * Resolves when the responses before this one on its connection have been sent, to false if the
 * connection is closed first. Node does not close a response that has never had its socket.
 */
function hasSocket({ socket }: Request, res: Response): Promise<boolean> {
  if (res.socket !== null || res.destroyed) return Promise.resolve(true);
  return new Promise((resolve) => {
    res.once("socket", () => {
      resolve(true);
    });
    socket.once("close", () => {
      contextOf(res).leaveRequests();
      resolve(false);
    });
  });
}

/**
 * Reads how the header Last-Event-ID lets the stream go on. The header is newer than the query: a
 * client that reconnects repeats its first query.
 */
function resume({ resumption }: StreamRule, message: Message, req: Request): readonly RequestProblem[] {
  const text = req.headers[LAST_EVENT_ID] ?? "";
  if (resumption === undefined || text === "") return [];
  const position = readNumber(typeof text === "string" ? new JsonNumber(text) : null);
  if (!position.ok) return [{ field: LAST_EVENT_ID, code: position.code, message: position.problem }];
  Object.assign(message, { [resumption.after.localName]: position.value });
  return [];
}

const NO_FIRST_MESSAGE: UpstreamFailure = {
  ok: false,
  status: { code: status.DEADLINE_EXCEEDED, message: "has no first message", details: [] },
};

/** Reads the first step of the stream, for which the server has as long as for a whole call. */
function firstStep(upstream: UpstreamStream, millisMax: number): Promise<StreamStep> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve({ kind: "end", failure: NO_FIRST_MESSAGE });
      upstream.cancel();
    }, millisMax);
    void upstream.next().then((step) => {
      clearTimeout(timer);
      resolve(step);
    });
  });
}

interface Serving {
  readonly route: StreamRoute;
  readonly form: StreamForm;
  readonly fileHeaders: Readonly<Record<string, string>>;
  readonly upstream: UpstreamStream;
  readonly first: StreamStep;
}

/** Serves a stream that the server has accepted. */
async function serve(deps: StreamDependencies, serving: Serving, req: Request, res: Response): Promise<void> {
  const { route, form, upstream, first } = serving;
  const { callers, streams } = deps;
  // The server has accepted the key, so the caller has a name of its own.
  callers.learn(req.headers, "OK");
  const caller = callers.nameOf(req.headers);
  if (res.destroyed || res.headersSent) return;
  if (!streams.enter(caller)) {
    upstream.cancel();
    sendProblem(res, tooManyStreams(streams.max));
    return;
  }
  const context = contextOf(res);
  context.onClosed.push(() => {
    streams.leave(caller);
  });
  context.leaveRequests();
  beginBody(res, form.contentType, serving.fileHeaders);
  if (req.method === "HEAD") {
    upstream.cancel();
    res.end();
    return;
  }
  const body = new StreamBody(res, route.stream, form);
  // A stream that ends is finished, as other requests are.
  if (route.stream.resumption !== undefined) {
    context.onClosed.push(
      streams.onStop(() => {
        body.stop();
      }),
    );
  }
  await body.begin();
  let step = first;
  while (step.kind === "message" && body.isOpen()) {
    await body.write(step);
    if (body.isOpen()) step = await upstream.next();
  }
  if (step.kind === "message") return;
  if (step.failure === undefined) body.end();
  else body.fail(isDeadline(step.failure) ? streamDeadline() : problemOf(deps.readRefusal(step.failure), false));
}

/** Whether the time is over that the client has set with Grpc-Timeout. */
function isDeadline({ status: { code, details } }: UpstreamFailure): boolean {
  return code === status.DEADLINE_EXCEEDED && details.length === 0;
}

const UNSAFE_IN_FILE_NAMES = /[^A-Za-z0-9._-]+/g;
const FILE_NAME_CHARACTERS_MAX = 150;

/** The names of the two ends of a period, in every request that has one. */
const PERIOD_FIELDS = ["start", "end"];
/** The field of an item that names its organization. */
const OWNER_FIELD = "organization_id";

/** Returns the organization of the first item, if it names one, and the two ends of the period. */
function fileWords({ rpc, stream: { list } }: StreamRoute, message: Message, first: StreamStep): readonly string[] {
  const owner = list.message.fields.find(({ name }) => name === OWNER_FIELD);
  const [item] = first.kind === "message" ? (valueOf(first.message, list) as readonly Message[]) : [];
  const ends = rpc.input.fields.filter(({ name }) => PERIOD_FIELDS.includes(name));
  return [
    ...(owner === undefined || item === undefined ? [] : [valueOf(item, owner) as string]),
    ...ends.map((field) => valueOf(message, field) as string),
  ];
}

/** Names the file: "journal-org_…-2026-11-01-2026-11-30.csv". */
function fileHeaders(
  { fileType }: StreamForm,
  path: string,
  named: readonly string[],
): Readonly<Record<string, string>> {
  if (fileType === undefined) return {};
  const words = [decodeURIComponent(path).replaceAll("/", "-").slice(1), ...named];
  const name = words.join("-").replaceAll(UNSAFE_IN_FILE_NAMES, "_");
  const fileName = `${name.slice(0, FILE_NAME_CHARACTERS_MAX)}.${fileType}`;
  return { "Content-Disposition": `attachment; filename="${fileName}"` };
}
