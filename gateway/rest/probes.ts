import type { Router } from "express";

import { sendAnswer, sendProblem } from "../http/response.js";
import { notReady } from "../problems/problem.js";
import { servePath } from "./allowed-methods.js";

export interface ProbeDependencies {
  readonly isServing: () => Promise<boolean>;
  readonly isStopping: () => boolean;
}

const OK = { status: 200, headers: {}, body: '{"status":"ok"}' };

/**
 * Serves /livez, 200 as long as the process answers at all, and /readyz, 200 only while requests
 * make sense.
 */
export function serveProbes(router: Router, deps: ProbeDependencies): void {
  servePath(router, {
    paths: ["/livez"],
    template: "/livez",
    handlers: new Map([
      [
        "GET",
        (_req, res) => {
          sendAnswer(res, OK);
        },
      ],
    ]),
  });
  servePath(router, {
    paths: ["/readyz"],
    template: "/readyz",
    handlers: new Map([
      [
        "GET",
        async (_req, res) => {
          if (deps.isStopping()) sendProblem(res, notReady("The gateway is stopping."));
          else if (await deps.isServing()) sendAnswer(res, OK);
          else sendProblem(res, notReady("The server behind the gateway does not say that it serves."));
        },
      ],
    ]),
  });
}
