import type { Administration } from "../../operators/ports.js";

/** What the handlers need. */
export interface HandlersOptions {
  readonly administration: Administration;
  readonly now: () => number;
}
