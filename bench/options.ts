import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

/** The benchmark runs compiled, from dist/bench/. */
export const REPOSITORY = join(import.meta.dirname, "../..");

const LONG_PARTS = ["curve", "growth", "postgres", "rails", "events", "fairness", "soak"] as const;
const PARTS = ["service", ...LONG_PARTS, "blnk"] as const;
export type Part = (typeof PARTS)[number];

const USAGE = `node dist/bench/main.js [options]
  --part <part>         ${PARTS.join(", ")}; may be repeated (service)
  --full                all parts but service and blnk, unless --part names some
  --seconds <n>         time of each measurement in each round (1)
  --rounds <n>          rounds; the table shows medians (9)
  --only <text>         of the part service, only measurements whose name has this text, and their yardsticks
  --rows <names>        of the part fairness, only these rows, separated by commas
  --engine <name>       of the parts rails, events and fairness, only sqlite or postgres
  --transactions <n>    growth and fairness fill the database with this many transactions (1000000)
  --minutes <n>         duration of soak (5)
  --kesc <file>         the kesc command to measure (dist/bin/kesc.js)`;

/** The length of a measurement. */
export interface Rounds {
  rounds: number;
  seconds: number;
}

export interface Options extends Rounds {
  parts: readonly Part[];
  only: string;
  rows: string;
  engine: string;
  transactions: number;
  minutes: number;
  kesc: string;
}

/** Reads the command line of `make bench`. Ends the process with 2 when it is wrong. */
export function readOptions(): Options {
  return commandLine(USAGE, () => {
    const { values } = parseArgs({
      options: {
        part: { type: "string", multiple: true, default: [] },
        full: { type: "boolean", default: false },
        // Many short rounds: the machine itself may change by half from one second to the next.
        seconds: { type: "string", default: "1" },
        rounds: { type: "string", default: "9" },
        only: { type: "string", default: "" },
        rows: { type: "string", default: "" },
        engine: { type: "string", default: "" },
        transactions: { type: "string", default: "1000000" },
        minutes: { type: "string", default: "5" },
        kesc: { type: "string", default: REPOSITORY },
      },
    });
    const unknown = values.part.find((name) => !PARTS.some((part) => part === name));
    if (unknown !== undefined) throw new Error(`--part takes ${PARTS.join(", ")}, not "${unknown}"`);
    const byDefault = values.full ? LONG_PARTS : PARTS.slice(0, 1);
    return {
      parts: values.part.length === 0 ? byDefault : PARTS.filter((part) => values.part.includes(part)),
      only: values.only,
      rows: values.rows,
      engine: values.engine,
      seconds: numberOf("--seconds", values.seconds, { min: 0.1, max: 600 }),
      rounds: wholeNumberOf("--rounds", values.rounds, { min: 1, max: 100 }),
      transactions: wholeNumberOf("--transactions", values.transactions, { min: 1_000, max: 1_000_000_000 }),
      minutes: wholeNumberOf("--minutes", values.minutes, { min: 1, max: 10_000 }),
      kesc: kescAt(values.kesc),
    };
  });
}

/** Runs `read`; if it throws, prints the message and the usage and ends the process with 2. */
export function commandLine<Read>(usage: string, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}\n`);
    process.exit(2);
  }
}

function numberOf(option: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (!(value >= min && value <= max))
    throw new Error(`${option} takes a number from ${String(min)} to ${String(max)}`);
  return value;
}

export function wholeNumberOf(option: string, text: string, range: { min: number; max: number }): number {
  const value = numberOf(option, text, range);
  if (!Number.isInteger(value)) throw new Error(`${option} takes a whole number`);
  return value;
}

/** The compiled files of the command. It was called main.js before the rooms were moved. */
const COMPILED = ["dist/src/cli/kesc.js", "dist/src/cli/main.js"];

/**
 * The `kesc` command at `path`: the file itself, or that of a checkout which is built. Takes the
 * bundle if the checkout has one: it is what ships. With `isCompiled` takes the compiled files,
 * each of which is a file of the source.
 */
export function kescAt(path: string, { isCompiled = false }: { isCompiled?: boolean } = {}): string {
  const files = ["", ...(isCompiled ? [] : ["dist/bin/kesc.js"]), ...COMPILED];
  const candidates = files.map((file) => resolve(path, file));
  const found = candidates.find((file) => file.endsWith(".js") && existsSync(file));
  if (found === undefined) throw new Error(`No kesc command at ${path}. Build that checkout first: npm run build`);
  return found;
}

/** The folder of the compiled files of the build of this command, with its last slash. */
export function distOf(kesc: string): string {
  return kesc.slice(0, kesc.lastIndexOf("/dist/") + "/dist/".length);
}
