import { parseArgs } from "node:util";

import { type Measuring, MEASURING_OPTIONS, MEASURING_USAGE, readMeasuring } from "../options.js";

const TRANSACTIONS_MIN = 1_000;
const TRANSACTIONS_MAX = 1_000_000_000;

const PARTS = ["curve", "growth", "reads", "postgres", "soak"] as const;
export type Part = (typeof PARTS)[number];

export const USAGE = `node dist/bench/full/main.js [options]
  --part <part>         ${PARTS.join(", ")}; may be repeated (all)
  --transactions <n>    to how many transactions growth and reads fill the database (1000000)
  --minutes <n>         how long soak takes (5)
${MEASURING_USAGE}`;

export interface Options extends Measuring {
  parts: readonly Part[];
  transactions: number;
  minutes: number;
}

/** Reads the command line. Throws, in words for the caller, when it is wrong. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      part: { type: "string", multiple: true, default: [...PARTS] },
      transactions: { type: "string", default: "1000000" },
      minutes: { type: "string", default: "5" },
      ...MEASURING_OPTIONS,
    },
  });
  const unknown = values.part.find((name) => !PARTS.some((part) => part === name));
  if (unknown !== undefined) throw new Error(`--part takes ${PARTS.join(", ")}, not "${unknown}"`);
  const transactions = Number(values.transactions);
  if (!(Number.isInteger(transactions) && transactions >= TRANSACTIONS_MIN && transactions <= TRANSACTIONS_MAX)) {
    const range = `${String(TRANSACTIONS_MIN)} to ${String(TRANSACTIONS_MAX)}`;
    throw new Error(`--transactions takes a whole number from ${range}`);
  }
  const minutes = Number(values.minutes);
  if (!(Number.isInteger(minutes) && minutes >= 1)) throw new Error("--minutes takes a whole number from 1");
  return {
    parts: PARTS.filter((part) => values.part.includes(part)),
    transactions,
    minutes,
    ...readMeasuring(values),
  };
}
