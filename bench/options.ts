import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

/** The benchmark runs compiled, from dist/bench/. */
export const REPOSITORY = join(import.meta.dirname, "../..");

export const USAGE = `node dist/bench/main.js [options]
  --seconds <n>   how long each measurement takes in each round (2)
  --rounds <n>    how often each is repeated; the table shows medians (3)
  --only <text>   only measurements whose name contains the text, and what they are compared with
  --kesc <file>   the kesc command to measure (dist/src/cli/main.js)`;

export interface Options {
  seconds: number;
  rounds: number;
  only: string;
  /** Path of the kesc command. */
  kesc: string;
}

/** Reads the command line. Throws, in words for the caller, when it is wrong. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: "string", default: "2" },
      rounds: { type: "string", default: "3" },
      only: { type: "string", default: "" },
      kesc: { type: "string", default: join(REPOSITORY, "dist/src/cli/main.js") },
    },
  });
  const seconds = Number(values.seconds);
  const rounds = Number(values.rounds);
  if (!(seconds >= 0.1 && seconds <= 600)) throw new Error("--seconds takes a number from 0.1 to 600");
  if (!(Number.isInteger(rounds) && rounds >= 1 && rounds <= 100))
    throw new Error("--rounds takes a number from 1 to 100");
  if (!existsSync(values.kesc)) throw new Error(`there is no ${values.kesc}: build first, with npm run build`);
  return { seconds, rounds, only: values.only, kesc: values.kesc };
}
