import type { Engine } from "../sql/engine.js";

/** The statements of one step forward. Never edited once landed: what comes later is a new file. */
export type Migration = (engine: Engine) => readonly string[];
