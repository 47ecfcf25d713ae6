import type { Request, Response } from "express";

import { sendProblem } from "../http/response.js";
import { notAcceptable } from "../problems/problem.js";
import type { Handler } from "./allowed-methods.js";

// They say how a type is written. All types of the gateway are written in one way only.
const PARAMETERS = /;[ \t]*(?:charset|header)[ \t]*=[ \t]*(?:"[^"]*"|[^\s;,]*)/gi;

/**
 * Makes the handler of a path that serves several types. The header Accept chooses the handler.
 * Without one, or if it takes any type, the first is chosen.
 */
export function byAccept(handlers: ReadonlyMap<string, Handler>): Handler {
  const types = [...handlers.keys()];
  return (req: Request, res: Response) => {
    res.setHeader("Vary", "Accept");
    const { accept } = req.headers;
    if (accept !== undefined) req.headers.accept = accept.replaceAll(PARAMETERS, "");
    const type = req.accepts(types);
    const handler = type === false ? undefined : handlers.get(type);
    if (handler === undefined) sendProblem(res, notAcceptable(types));
    else return handler(req, res);
  };
}
