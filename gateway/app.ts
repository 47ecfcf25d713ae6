import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from "express";
import type { Logger } from "pino";

import { FairTurns } from "../runtime/fair-turns.js";
import type { Tracing } from "../runtime/tracing/tracing.js";
import type { Contract } from "./contract/contract.js";
import { patternOf } from "./contract/path-template.js";
import type { RpcStatus } from "./contract/rpc.js";
import { Admission } from "./http/admission.js";
import { Callers } from "./http/callers.js";
import type { OpenStreams } from "./http/open-streams.js";
import { beginRequest, contextOf } from "./http/request-context.js";
import { logRequest, type RequestMeter, type RequestNotes } from "./http/request-log.js";
import { sendProblem } from "./http/response.js";
import { MessageWriter } from "./json/write-message.js";
import {
  expectationFailed,
  internalProblem,
  invalidFields,
  malformedRequest,
  noSuchRoute,
  queueFull,
} from "./problems/problem.js";
import { reasonsOf } from "./problems/reasons.js";
import { itemProblemJson, refusalReader } from "./problems/upstream-refusal.js";
import type { CallDependencies } from "./rest/call-handler.js";
import { registerErrorPages } from "./rest/error-pages.js";
import { PROBE_PATHS, registerProbes } from "./rest/probes.js";
import { registerRoutes } from "./rest/routes.js";
import type { Upstream } from "./upstream/upstream.js";

export interface AppDependencies {
  readonly contract: Contract;
  readonly upstream: Upstream;
  readonly log: Logger;
  readonly isStopping: () => boolean;
  readonly streams: OpenStreams;
  /** Undefined: the metrics are off. */
  readonly meter?: RequestMeter | undefined;
  /** Undefined: no request is recorded. */
  readonly tracing?: Pick<Tracing, "begin" | "unrecorded"> | undefined;
}

export type AppLimits = Pick<CallDependencies, "bodyBytesMax" | "bulkBytesMax" | "callMillisMax"> & {
  readonly requestsMax: number;
};

/**
 * Makes the whole REST API: the contract's routes, at the root and under /v1, and the probes.
 * Letter case and a slash at the end count, so that one resource has one path.
 */
export function createApp(deps: AppDependencies, limits: AppLimits): Express {
  const app = express();
  app.set("case sensitive routing", true);
  app.set("strict routing", true);
  app.set("x-powered-by", false);
  app.set("etag", false);
  // The gateway reads the query itself, by the contract.
  app.set("query parser", false);

  const callers = new Callers();
  const isPublic = publicPathsOf(deps.contract);
  app.use(beginContext(deps), takeTurn(new FairTurns(), { callers, isPublic }), refuseMalformed);
  // Before the admission: an orchestrator must be able to probe a gateway that is full.
  registerProbes(app, { isServing: () => deps.upstream.isServing(), isStopping: deps.isStopping });
  app.use(admit(new Admission(limits.requestsMax), { callers, open: new Admission(PUBLIC_REQUESTS_MAX), isPublic }));
  const { contract, upstream, streams } = deps;
  const readRefusal = refusalReader(contract.registry);
  const messageWriter = new MessageWriter(contract, (status) =>
    itemProblemJson(readRefusal({ status: status as typeof status & RpcStatus })),
  );
  registerErrorPages(app, reasonsOf(contract.registry));
  registerRoutes(
    app,
    { upstream, streams, callers, messageWriter, numbers: contract, readRefusal, ...limits },
    contract.routes,
  );
  app.use((_req, res) => {
    sendProblem(res, noSuchRoute());
  });
  app.use(handleBug(deps.log));
  return app;
}

function beginContext(notes: RequestNotes): RequestHandler {
  return (req, res, next) => {
    logRequest(notes, beginRequest(req, res, notes.tracing), req, res);
    next();
  };
}

/** Whether a path belongs to an rpc that anybody may call. */
type IsPublic = (path: string) => boolean;

function publicPathsOf({ routes }: Contract): IsPublic {
  const patterns = routes.filter(({ isPublic }) => isPublic).map(({ path }) => patternOf(path));
  return (path) => patterns.some((pattern) => pattern.test(path));
}

// The requests of public paths in flight. One address has at most half of them. They take no slot
// of callers with a key, and those take none of theirs.
const PUBLIC_REQUESTS_MAX = 256;
const PUBLIC = "public";
const PROBES = "probes";

/**
 * Passes a request on when its caller has its turn. The probes are a caller, too. A large body
 * takes more turns once it has arrived, because only then it costs time.
 */
function takeTurn(turns: FairTurns, { callers, isPublic }: { callers: Callers; isPublic: IsPublic }): RequestHandler {
  const callerOf = ({ path, headers }: Request): string => {
    if (PROBE_PATHS.has(path)) return PROBES;
    return isPublic(path) ? PUBLIC : callers.nameOf(headers);
  };
  return (req, res, next) => {
    const caller = callerOf(req);
    contextOf(res).turnFor = (bytes) =>
      new Promise((resolve) => {
        turns.add(caller, bytes, resolve);
      });
    turns.add(caller, 0, next);
  };
}

/**
 * Passes a request on when its caller has room. Public paths have room of their own, which their
 * addresses share.
 */
function admit(
  keyed: Admission,
  { callers, open, isPublic }: { callers: Callers; open: Admission; isPublic: IsPublic },
): RequestHandler {
  return async (req, res, next) => {
    const isOpen = isPublic(req.path);
    const admission = isOpen ? open : keyed;
    const caller = isOpen ? (req.socket.remoteAddress ?? "") : callers.nameOf(req.headers);
    const admitted = admission.enter(caller);
    if (admitted !== true && !(await admitted)) {
      sendProblem(res, queueFull());
      return;
    }
    // The response of a client that disconnected while it waited is closed already.
    if (res.destroyed) {
      admission.leave(caller);
      return;
    }
    const context = contextOf(res);
    let isIn = true;
    context.leaveRequests = () => {
      if (isIn) admission.leave(caller);
      isIn = false;
    };
    context.onClosed.push(() => {
      context.leaveRequests();
      // The response of a public path says nothing about a key.
      if (!isOpen) callers.learn(req.headers, context.code);
    });
    next();
  };
}

// The words in which Node finds this expectation. Node has then sent 100 Continue.
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

const refuseMalformed: RequestHandler = (req, res, next) => {
  const { host, expect } = req.headers;
  if (host === undefined && req.httpVersion === "1.1") {
    sendProblem(res, malformedRequest("The header Host is missing."));
    return;
  }
  if (expect !== undefined && !CONTINUE.test(expect)) {
    sendProblem(res, expectationFailed());
    return;
  }
  try {
    decodeURIComponent(req.path);
  } catch {
    sendProblem(res, invalidFields([{ field: "path", code: "format", message: "must be percent-encoded UTF-8" }]));
    return;
  }
  next();
};

/** Logs an error that no other code handles. The client receives only the request's id. */
function handleBug(log: Logger): ErrorRequestHandler {
  return (error: unknown, _req, res, next) => {
    const { requestId, traceId } = contextOf(res);
    log.error({ request_id: requestId, trace_id: traceId, err: error }, "bug");
    // Express cuts the connection when the response has begun: it cannot become another response.
    if (res.headersSent) next(error);
    else sendProblem(res, internalProblem());
  };
}
