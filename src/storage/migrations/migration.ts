import type { Engine } from "../sql/engine.js";

/** The statements of one migration. Never edit a released migration: add a new file. */
export type Migration = (engine: Engine) => readonly string[];
