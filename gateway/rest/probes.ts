import type { Router } from "express";

import { sendProblem, sendResponse } from "../http/response.js";
import { notReady } from "../problems/problem.js";
import { type Handler, registerPath } from "./path-handlers.js";

export interface ProbeDependencies {
  readonly isServing: () => Promise<boolean>;
  readonly isStopping: () => boolean;
}

const LIVE = "/livez";
const READY = "/readyz";
export const PROBE_PATHS: ReadonlySet<string> = new Set([LIVE, READY]);
const OK = { status: 200, headers: {}, body: '{"status":"ok"}' };

/**
 * Registers /livez, which returns 200 while the process runs, and /readyz, which returns 200 while
 * the gateway and the server take requests.
 */
export function registerProbes(router: Router, { isServing, isStopping }: ProbeDependencies): void {
  registerProbe(router, LIVE, (_req, res) => {
    sendResponse(res, OK);
  });
  registerProbe(router, READY, async (_req, res) => {
    if (isStopping()) sendProblem(res, notReady("The gateway is shutting down."));
    else if (await isServing()) sendResponse(res, OK);
    else sendProblem(res, notReady("The server behind the gateway is not serving."));
  });
}

function registerProbe(router: Router, path: string, handler: Handler): void {
  registerPath(router, { paths: [path], template: path, handlers: new Map([["GET", handler]]) });
}
