import type { IncomingMessage, ServerResponse } from "node:http";

import express, { type ErrorRequestHandler, type Express, type RequestHandler } from "express";
import type { Logger } from "pino";

import type { HttpContract } from "../contract/contract.js";
import { MessageWriter } from "../contract/json/write-message.js";
import { patternOf } from "../contract/path-template.js";
import type { RpcStatus } from "../contract/rpc.js";
import { FairTurns } from "../runtime/fair-turns.js";
import type { Tracing } from "../runtime/tracing/tracing.js";
import { breachOf } from "../runtime/transport/http-server.js";
import { Admission, Callers } from "./http/admission.js";
import { Arrivals } from "./http/arrivals.js";
import type { OpenStreams } from "./http/open-streams.js";
import { beginRequest, contextOf, type ContextOptions } from "./http/request-context.js";
import { logRequest, type RequestMeter, type RequestNotes } from "./http/request-log.js";
import { sendProblem, sendResponse } from "./http/response.js";
import { type Pages, servePages } from "./pages/pages.js";
import {
  expectationFailed,
  internalProblem,
  invalidFields,
  malformedRequest,
  noSuchRoute,
  queueFull,
} from "./problems/problem.js";
import { itemProblemJson, refusalReader } from "./problems/upstream-refusal.js";
import type { CallDependencies } from "./rest/call-handler.js";
import { PROBE_PATHS, registerProbes } from "./rest/probes.js";
import { registerRoutes } from "./rest/routes.js";
import type { Upstream } from "./upstream/upstream.js";

export interface AppDependencies {
  readonly contract: HttpContract;
  readonly upstream: Upstream;
  readonly log: Logger;
  readonly isStopping: () => boolean;
  readonly streams: OpenStreams;
  /** Undefined: the metrics are off. */
  readonly meter?: RequestMeter | undefined;
  /** Undefined: no request is recorded. */
  readonly tracing?: Pick<Tracing, "begin" | "unrecorded"> | undefined;
  /** What clients put before each path; empty or undefined: they reach this gateway's own root. */
  readonly publicUrl?: string | undefined;
  /** What the gateway shows to people, by path. */
  readonly pages: Pages;
}

export type AppLimits = Pick<CallDependencies, "bodyBytesMax" | "bulkBytesMax" | "callMillisMax"> & {
  readonly requestsMax: number;
};

/**
 * Makes the whole REST API: the contract's routes, at the root and under /v1, the probes and the
 * pages.
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
  const kindOf = kindsOf(deps);
  app.use(beginContext(deps), takeTurn(new FairTurns(), { callers, kindOf }), refuseMalformed);
  // Before the admission: an orchestrator must be able to probe a gateway that is full.
  registerProbes(app, { isServing: () => deps.upstream.isServing(), isStopping: deps.isStopping });
  app.use(admit(limits, { callers, kindOf }));
  const { contract, upstream, streams } = deps;
  const readRefusal = refusalReader(contract.registry);
  const messageWriter = new MessageWriter(contract, (status) =>
    itemProblemJson(readRefusal({ status: status as typeof status & RpcStatus }), deps.publicUrl),
  );
  registerRoutes(
    app,
    {
      upstream,
      streams,
      callers,
      messageWriter,
      numbers: contract,
      readRefusal,
      isStopping: deps.isStopping,
      ...limits,
    },
    contract.routes,
  );
  // After the routes, so that no call pays for them.
  app.use(servePages(deps.pages));
  app.use((req, res) => {
    if (req.method === "OPTIONS" && req.url === "*") sendResponse(res, ANY_PATH);
    else sendProblem(res, noSuchRoute());
  });
  app.use(handleBug(deps.log));
  return app;
}

/** The response to OPTIONS *, which asks about no path: the methods that some path supports. */
const ANY_PATH = { status: 204, headers: { Allow: "GET, HEAD, POST, PATCH, DELETE, OPTIONS" }, body: "" };

function beginContext(notes: RequestNotes & ContextOptions): RequestHandler {
  return (req, res, next) => {
    logRequest(notes, beginRequest(req, res, notes), req, res);
    next();
  };
}

/**
 * Requests of one kind share turns and slots: `keyed` by the caller's key, and the others, which
 * need none, by nothing and by address.
 */
type RequestKind = "keyed" | "public" | "pages" | "probes";
type KindOf = (path: string) => RequestKind;

/** The requests in flight of those who need no key. One address has at most half of them. */
const REQUESTS_MAX = { public: 256, pages: 32 };

/** Returns the kind of a request by its path. `public` are the rpcs that anybody may call. */
function kindsOf({ contract, pages }: AppDependencies): KindOf {
  const open = contract.routes.filter(({ isPublic }) => isPublic).map(({ path }) => patternOf(path));
  return (path) => {
    if (PROBE_PATHS.has(path)) return "probes";
    if (pages.has(path)) return "pages";
    return open.some((pattern) => pattern.test(path)) ? "public" : "keyed";
  };
}

/**
 * Passes a request on when its caller has its turn. All requests of a kind that needs no key are
 * one caller. A large body takes more turns once it has arrived, because only then it costs time.
 */
function takeTurn(turns: FairTurns, { callers, kindOf }: { callers: Callers; kindOf: KindOf }): RequestHandler {
  return (req, res, next) => {
    const kind = kindOf(req.path);
    const caller = kind === "keyed" ? callers.nameOf(req.headers) : kind;
    contextOf(res).turnFor = (bytes) =>
      new Promise((resolve) => {
        turns.add(caller, bytes, resolve);
      });
    turns.add(caller, 0, next);
  };
}

/**
 * Passes a request on when its caller has a free slot. Each kind that needs no key has slots of its
 * own, which the addresses share. So it takes no slot of callers with a key, nor they one of its.
 */
function admit(limits: AppLimits, { callers, kindOf }: { callers: Callers; kindOf: KindOf }): RequestHandler {
  const arrivals = new Arrivals(limits);
  const keyed = new Admission(limits.requestsMax);
  const open = new Map([
    ["public", new Admission(REQUESTS_MAX.public)],
    ["pages", new Admission(REQUESTS_MAX.pages)],
  ]);
  return async (req, res, next) => {
    const kind = kindOf(req.path);
    if (kind === "public" && !(await hasArrived(arrivals, req, res))) return;
    const ofKind = open.get(kind);
    const admission = ofKind ?? keyed;
    const caller = ofKind === undefined ? callers.nameOf(req.headers) : (req.socket.remoteAddress ?? "");
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
      // A response that needs no key says nothing about a key.
      if (ofKind === undefined) callers.learn(req.headers, context.code);
    });
    next();
  };
}

/** Reads the body of a request without a key. Returns whether a slot is free for the request. */
async function hasArrived(arrivals: Arrivals, req: IncomingMessage, res: ServerResponse): Promise<boolean> {
  if (res.destroyed) return false;
  if (!arrivals.enter()) {
    sendProblem(res, queueFull());
    return false;
  }
  const context = contextOf(res);
  context.onClosed.push(() => {
    arrivals.leave();
  });
  context.rawBody = await arrivals.read(req);
  return true;
}

// The words in which Node finds this expectation. Node has then sent 100 Continue.
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

const refuseMalformed: RequestHandler = (req, res, next) => {
  const { expect } = req.headers;
  const breach = breachOf(req);
  if (breach !== undefined) {
    sendProblem(res, { ...malformedRequest(breach), headers: { Connection: "close" } });
    return;
  }
  if (expect !== undefined && !CONTINUE.test(expect)) {
    sendProblem(res, expectationFailed());
    return;
  }
  try {
    decodeURIComponent(req.path);
  } catch {
    sendProblem(res, invalidFields([{ field: "path", code: "FORMAT", message: "must be percent-encoded UTF-8" }]));
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
