import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

/** The benchmark runs compiled, from dist/bench/. */
export const REPOSITORY = join(import.meta.dirname, "../..");

/**
 * The warm-up is as long as so many rounds. A server is slower, by a fifth and more, until V8 has
 * compiled what it does most, which takes some hundred thousand calls.
 */
export const WARM_UP_ROUNDS = 6;

/** What all benchmarks ask in the same words. */
export const MEASURING_OPTIONS = {
  // Many short ones: from one second to the next the machine itself may change by half.
  seconds: { type: "string", default: "1" },
  rounds: { type: "string", default: "9" },
  kesc: { type: "string", default: join(REPOSITORY, "dist/src/cli/kesc.js") },
} as const;

export const MEASURING_USAGE = `\
  --seconds <n>         how long each measurement takes in each round (1)
  --rounds <n>          how often each is repeated; the table shows medians (9)
  --kesc <file>         the kesc command to measure (dist/src/cli/kesc.js)`;

/** How to measure, and what. */
export interface Measuring {
  seconds: number;
  rounds: number;
  /** Path of the kesc command. */
  kesc: string;
}

export const USAGE = `node dist/bench/main.js [options]
${MEASURING_USAGE}
  --only <text>         only measurements whose name contains the text, and what they are compared with`;

export interface Options extends Measuring {
  only: string;
}

/** Reads the command line. Throws, in words for the caller, when it is wrong. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      ...MEASURING_OPTIONS,
      only: { type: "string", default: "" },
    },
  });
  return { ...readMeasuring(values), only: values.only };
}

/** Reads the values of MEASURING_OPTIONS. Throws, in words for the caller, when one is wrong. */
export function readMeasuring({ kesc, ...texts }: Record<keyof typeof MEASURING_OPTIONS, string>): Measuring {
  const seconds = Number(texts.seconds);
  const rounds = Number(texts.rounds);
  if (!(seconds >= 0.1 && seconds <= 600)) throw new Error("--seconds takes a number from 0.1 to 600");
  if (!(Number.isInteger(rounds) && rounds >= 1 && rounds <= 100))
    throw new Error("--rounds takes a number from 1 to 100");
  if (!existsSync(kesc)) throw new Error(`there is no ${kesc}: build first, with npm run build`);
  return { seconds, rounds, kesc };
}
