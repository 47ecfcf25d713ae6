import type { Request, Response, Router } from "express";

import type { HttpMethod } from "../contract/contract.js";
import { exchangeOf } from "../http/request-context.js";
import { sendAnswer, sendProblem } from "../http/response.js";
import { methodNotAllowed } from "../problems/problem.js";

export type Handler = (req: Request, res: Response) => Promise<void> | void;

export interface ServedPath {
  /** All of its spellings, as Express writes them. */
  readonly paths: readonly string[];
  /** As the log shows it, with field names for values. */
  readonly template: string;
  readonly handlers: ReadonlyMap<HttpMethod, Handler>;
}

/**
 * Serves one path: its own methods, HEAD where there is GET, OPTIONS with the list of them, and 405
 * for any other.
 */
export function servePath(router: Router, { paths, template, handlers }: ServedPath): void {
  const allow = [...handlers.keys(), ...(handlers.has("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  router.all([...paths], async (req, res) => {
    exchangeOf(res).route = template;
    const handler = handlers.get((req.method === "HEAD" ? "GET" : req.method) as HttpMethod);
    if (handler !== undefined) await handler(req, res);
    else if (req.method === "OPTIONS") sendAnswer(res, { status: 204, headers: { Allow: allow }, body: "" });
    else sendProblem(res, methodNotAllowed(allow));
  });
}
