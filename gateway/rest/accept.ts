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
