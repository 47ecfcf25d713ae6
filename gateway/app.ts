import express, { type ErrorRequestHandler, type Express, type RequestHandler } from "express";
import type { Logger } from "pino";

import { callerOf } from "../runtime/fair-share.js";
import type { Contract } from "./contract/contract.js";
import { Admission } from "./http/admission.js";
import { beginExchange, exchangeOf } from "./http/request-context.js";
import { logRequest } from "./http/request-log.js";
import { sendProblem } from "./http/response.js";
import { MessageWriters } from "./json/write-message.js";
import { internalProblem, invalidFields, noSuchRoute, queueFull } from "./problems/problem.js";
import { problemMemberJson, refusalReaders } from "./problems/upstream-refusal.js";
import type { CallDependencies } from "./rest/call-handler.js";
import { serveProbes } from "./rest/probes.js";
import { serveRoutes } from "./rest/routes.js";
import type { Upstream } from "./upstream/upstream.js";

export interface AppDependencies {
  readonly contract: Contract;
  readonly upstream: Upstream;
  readonly log: Logger;
  readonly isStopping: () => boolean;
}

export type AppLimits = Pick<CallDependencies, "bodyBytesMax" | "bulkBytesMax" | "callMillisMax"> & {
  readonly requestsMax: number;
};

/**
 * The whole REST API: the contract's routes, at the root and under /v1, and the probes. Letter case
 * and a slash at the end count: one resource has one path.
 */
export function createApp(deps: AppDependencies, limits: AppLimits): Express {
  const app = express();
  app.set("case sensitive routing", true);
  app.set("strict routing", true);
  app.set("x-powered-by", false);
  app.set("etag", false);
  // Queries are read by the contract, not by Express.
  app.set("query parser", false);

  app.use(begin(deps.log), refuseMalformedPath);
  serveProbes(app, { isServing: () => deps.upstream.isServing(), isStopping: deps.isStopping });
  app.use(admit(new Admission(limits.requestsMax)));
  const { contract } = deps;
  const readers = refusalReaders(contract.registry);
  serveRoutes(
    app,
    {
      upstream: deps.upstream,
      writers: new MessageWriters(contract.isDecimal, (status) => problemMemberJson(readers.ofMessage(status))),
      isDecimal: contract.isDecimal,
      readRefusal: readers.ofCall,
      ...limits,
    },
    contract.routes,
  );
  app.use((_req, res) => {
    sendProblem(res, noSuchRoute());
  });
  app.use(answerBug(deps.log));
  return app;
}

function begin(log: Logger): RequestHandler {
  return (req, res, next) => {
    logRequest(log, beginExchange(req, res), req, res);
    next();
  };
}

/** Passes a request on when its caller has a slot. */
function admit(admission: Admission): RequestHandler {
  return async (req, res, next) => {
    const caller = callerOf(String(req.headers["x-api-key"] ?? req.headers.authorization ?? ""));
    const admitted = admission.enter(caller);
    if (admitted !== true && !(await admitted)) {
      sendProblem(res, queueFull());
      return;
    }
    // Who has hung up while they waited has left already.
    if (res.destroyed) {
      admission.leave(caller);
      return;
    }
    exchangeOf(res).whenOver.push(() => {
      admission.leave(caller);
    });
    next();
  };
}

const refuseMalformedPath: RequestHandler = (req, res, next) => {
  try {
    decodeURIComponent(req.path);
  } catch {
    sendProblem(res, invalidFields([{ field: "path", message: "must be percent-encoded UTF-8" }]));
    return;
  }
  next();
};

/**
 * The one place for what should not happen: the log learns all of it, the caller nothing but the
 * request's id.
 */
function answerBug(log: Logger): ErrorRequestHandler {
  return (error: unknown, _req, res, next) => {
    log.error({ request_id: exchangeOf(res).requestId, err: error }, "bug");
    // What has begun cannot become another answer: Express cuts the connection.
    if (res.headersSent) next(error);
    else sendProblem(res, internalProblem());
  };
}
