import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

import { wholeNumber } from "../command-line.js";

export const SCENARIOS = ["sqlite", "postgres", "cells", "failover"] as const;
export type ScenarioName = (typeof SCENARIOS)[number];

export const USAGE = `node dist/test/attack/chaos/main.js [options]
  --engine <name>   sqlite, postgres, cells or failover; may be given several times (all four)
  --kills <n>       kills of each (sqlite 20, postgres 20, cells 20, failover 3)
  --seconds <n>     after this long no more kills of one engine (45)
  --seed <n>        of what the clients do and when the kills come (random; printed)`;

export interface Options {
  readonly scenarios: readonly ScenarioName[];
  /** Undefined: each scenario has its own number. */
  readonly kills: number | undefined;
  readonly seconds: number;
  readonly seed: number;
}

/** Reads the command line. Throws, in words for the caller, when it is wrong. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      engine: { type: "string", multiple: true, default: [...SCENARIOS] },
      kills: { type: "string" },
      seconds: { type: "string", default: "45" },
      seed: { type: "string", default: String(randomInt(2 ** 31)) },
    },
  });
  const scenarios = SCENARIOS.filter((name) => values.engine.includes(name));
  if (new Set(values.engine).size !== scenarios.length) {
    throw new Error(`--engine takes ${SCENARIOS.join(", ")}`);
  }
  return {
    scenarios,
    kills: values.kills === undefined ? undefined : wholeNumber("kills", values.kills, { max: 10_000 }),
    seconds: wholeNumber("seconds", values.seconds, { max: 86_400 }),
    seed: wholeNumber("seed", values.seed, { max: 2 ** 31 }),
  };
}
