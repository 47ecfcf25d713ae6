import type { Router } from "express";

import { sendProblem, sendText } from "../http/response.js";
import { noSuchRoute, pageOf, titleOf } from "../problems/problem.js";
import type { Reason } from "../problems/reasons.js";
import { type Handler, registerPath } from "./allowed-methods.js";

const INDEX = "/errors";

/**
 * Registers a page for each reason, to which the `type` of a problem points, and /errors, which
 * lists them. They are plain text and need no key.
 */
export function registerErrorPages(router: Router, reasons: readonly Reason[]): void {
  const pages = new Map(reasons.map((reason) => [pageOf(reason.code), pageText(reason)]));
  const index = `The errors of this service\n\n${[...pages.keys()].join("\n")}\n`;
  const send: Handler = (req, res) => {
    const page = req.path === INDEX ? index : pages.get(req.path);
    if (page === undefined) sendProblem(res, noSuchRoute());
    else sendText(res, page);
  };
  registerPath(router, { paths: [INDEX], template: INDEX, handlers: new Map([["GET", send]]) });
  registerPath(router, { paths: [`${INDEX}/:p0`], template: `${INDEX}/{reason}`, handlers: new Map([["GET", send]]) });
}

function pageText({ code, httpStatus, grpcStatus, facts, meaning, remedy }: Reason): string {
  const rows = [
    ["code", code],
    ["HTTP", String(httpStatus)],
    ["gRPC", grpcStatus ?? "none: only the gateway gives this error"],
    ["facts", facts.length === 0 ? "none" : facts.join(", ")],
  ];
  return [
    titleOf(code),
    "",
    ...rows.map(([name = "", value = ""]) => `${name.padEnd(7)}${value}`),
    "",
    `Meaning: ${meaning}.`,
    `What to do: ${remedy}.`,
    "",
    `All errors: ${INDEX}`,
    "",
  ].join("\n");
}
