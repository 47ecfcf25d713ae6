import type { Request, Response, Router } from "express";

import type { HttpMethod } from "../../contract/contract.js";
import { contextOf } from "../http/request-context.js";
import { sendProblem, sendResponse } from "../http/response.js";
import { methodNotAllowed, notAcceptable } from "../problems/problem.js";

export type Handler = (req: Request, res: Response) => Promise<void> | void;

export interface PathHandlers {
  /** All spellings of the path, in Express's syntax. */
  readonly paths: readonly string[];
  /** The path in the log, with field names in place of values. */
  readonly template: string;
  readonly handlers: ReadonlyMap<HttpMethod, Handler>;
}

/** Registers the handlers of one path. */
export function registerPath(router: Router, { paths, template, handlers }: PathHandlers): void {
  router.all([...paths], byMethod(template, handlers));
}

/**
 * Makes the handler of all methods of one path. HEAD uses the handler of GET, OPTIONS lists the
 * methods, and any other method gets METHOD_NOT_ALLOWED.
 */
export function byMethod(template: string, handlers: PathHandlers["handlers"]): Handler {
  const allow = [...handlers.keys(), ...(handlers.has("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  return async (req, res) => {
    contextOf(res).route = template;
    const handler = handlers.get((req.method === "HEAD" ? "GET" : req.method) as HttpMethod);
    if (handler !== undefined) await handler(req, res);
    else if (req.method === "OPTIONS") sendResponse(res, { status: 204, headers: { Allow: allow }, body: "" });
    else sendProblem(res, methodNotAllowed(allow));
  };
}

// They say how a type is written. All types of the gateway are written in one way only.
const PARAMETERS = /;[ \t]*(?:charset|header)[ \t]*=[ \t]*(?:"[^"]*"|[^\s;,]*)/gi;

/**
 * Makes the handler of a path that serves several types. The header Accept chooses the handler.
 * Without one, or if it takes any type, the first is chosen.
 */
export function byAccept(handlers: ReadonlyMap<string, Handler>): Handler {
  const types = [...handlers.keys()];
  const [[onlyType, onlyHandler] = [], ...others] = handlers;
  return (req: Request, res: Response) => {
    const { accept } = req.headers;
    if (others.length === 0 && onlyHandler !== undefined) {
      // What nearly all clients send, and what costs least.
      if (accept === undefined || accept === "*/*" || accept === onlyType) return onlyHandler(req, res);
    }
    res.setHeader("Vary", "Accept");
    if (accept !== undefined) req.headers.accept = accept.replaceAll(PARAMETERS, "");
    const type = req.accepts(types);
    const handler = type === false ? undefined : handlers.get(type);
    if (handler === undefined) sendProblem(res, notAcceptable(types));
    else return handler(req, res);
  };
}
