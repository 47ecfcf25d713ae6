import type { Request, Response, Router } from "express";

import type { HttpMethod } from "../../contract/contract.js";
import { contextOf } from "../http/request-context.js";
import { sendProblem, sendResponse } from "../http/response.js";
import { methodNotAllowed } from "../problems/problem.js";

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
