import type { IncomingMessage, ServerResponse } from "node:http";

import type { RequestHandler } from "express";
import type { Logger } from "pino";

import { requestIdOf } from "../../runtime/caller-ids.js";
import { isArriving } from "../../runtime/transport/http-server.js";
import type { MadeFile } from "../page.js";

/** What the log says about a request, and the id by which the server's log knows its calls. */
interface RequestState {
  readonly requestId: string;
  /** The path with names in place of ids; undefined until a route matches. */
  route: string | undefined;
  /** The id of the operator; undefined until one is known. */
  person: string | undefined;
  /** The file that is sent, and whose rows it has. */
  download: { readonly made: MadeFile; readonly organization: string | undefined } | undefined;
}

const STATES = new WeakMap<ServerResponse, RequestState>();

/** Returns the state that `beginRequest` made. Throws when there is none: a bug. */
export function stateOf(res: ServerResponse): RequestState {
  const state = STATES.get(res);
  if (state === undefined) throw new Error("the request has no state");
  return state;
}

/** Who took how many rows of which list: an export is noted, and so is one that broke off. */
function exportOf({ organization, made }: NonNullable<RequestState["download"]>, isSent: boolean) {
  const { rows, isCut, failure } = made;
  const end = isSent ? (isCut ? "cut" : "whole") : "broken off";
  return { organization, rows, end, cause: end === "broken off" ? (failure ?? "the browser closed it") : undefined };
}

/**
 * Gives each request an id, and logs one line at its end. The line has no URL: a query may hold a
 * filter, and a path an id that a person has typed.
 */
export function beginRequest(log: Logger): RequestHandler {
  return (req: IncomingMessage, res, next) => {
    const startedAt = performance.now();
    const state: RequestState = {
      requestId: requestIdOf(req.headers["x-request-id"]),
      route: undefined,
      person: undefined,
      download: undefined,
    };
    STATES.set(res, state);
    res.setHeader("X-Request-Id", state.requestId);
    // A response before the end of the form ends the connection.
    if (isArriving(req)) {
      res.setHeader("Connection", "close");
      req.once("end", () => {
        if (!res.headersSent) res.removeHeader("Connection");
      });
    }
    res.once("close", () => {
      const line = {
        request_id: state.requestId,
        method: req.method,
        route: state.route ?? null,
        person: state.person ?? null,
        status: res.writableFinished ? res.statusCode : 499,
        ms: Math.round((performance.now() - startedAt) * 100) / 100,
        export: state.download && exportOf(state.download, res.writableFinished),
      };
      if (line.status >= 500 || line.export?.end === "broken off") log.warn(line, "request");
      else log.info(line, "request");
    });
    next();
  };
}
