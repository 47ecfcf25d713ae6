import { GAP_ADVICE, gapWords, unknownWords } from "../../startup/open-database.js";
import type { DatabaseAddress } from "../../storage/database.js";
import type { Diagnosed } from "../../storage/diagnosis/diagnosed.js";
import { newestRowAt } from "../../storage/diagnosis/facts.js";
import { migrationState } from "../../storage/migrate.js";
import { checkNamed, type CheckResult, type DoctorFinding } from "./finding.js";

const CLOCK_DIFFERENCE_MILLIS_MAX = 2_000;
const SHOWN_MAX = 3;

const SCHEMA = checkNamed("schema");
const DURABILITY = checkNamed("durability");
const CLOCK = checkNamed("clock");
const ROLE = checkNamed("role");

/** Compares the schema with the migrations of this version. */
export async function checkSchema({ cells }: Diagnosed): Promise<DoctorFinding> {
  const states = await Promise.all(cells.map(migrationState));
  const unknown = [...new Set(states.flatMap((state) => state.unknown))];
  const pending = [...new Set(states.flatMap((state) => state.pending))];
  if (unknown.length > 0 && states.every(({ isServable }) => isServable)) {
    return SCHEMA.warn(
      `The database has the schema of the next release (${unknown.join(", ")}). Servers of this version serve it; ` +
        "commands other than server refuse it.",
      "Finish the upgrade (docs/run.md).",
    );
  }
  if (unknown.length > 0) {
    const { problem, advice } = unknownWords(unknown);
    return SCHEMA.fail(`The database ${problem}.`, advice);
  }
  const gap = [...new Set(states.flatMap((state) => state.gap))];
  if (gap.length > 0) return SCHEMA.fail(`The database ${gapWords(gap)}.`, GAP_ADVICE);
  if (pending.length > 0) {
    return SCHEMA.fail(
      `The database lacks the migrations ${pending.join(", ")}. No server starts.`,
      "Run: kesc migrate",
    );
  }
  return SCHEMA.ok(`The schema is that of this version, in ${count(cells.length, "cell")}.`);
}

export function checkDurability({ durability }: Diagnosed): DoctorFinding {
  const unsafe = durability.filter(({ isSafe }) => !isSafe);
  const words = (settings: Diagnosed["durability"]): string =>
    settings.map(({ name, value }) => `${name} = ${value}`).join(", ");
  if (unsafe.length === 0) {
    const bySession = durability.some(({ name }) => name === "fsync")
      ? "synchronous_commit = on with each transaction"
      : "synchronous = FULL on each connection";
    return DURABILITY.ok(`${words(durability)}. The server itself sets ${bySession}, and reads it back.`);
  }
  if (unsafe.some(({ name }) => name === "journal_mode")) {
    return DURABILITY.warn(
      `${words(unsafe)}: another program has changed the file. Readers and writers would wait for each other.`,
      "The server sets it back at its next start. Find out which program opened the file.",
    );
  }
  return DURABILITY.fail(
    `${words(unsafe)}: a power cut may lose what was acknowledged. No server starts.`,
    "Turn it on in postgresql.conf, and reload PostgreSQL.",
  );
}

/** Compares this machine's clock with the database's, and with the newest row of the books. */
export async function checkClock({ cells, clockAheadMillis }: Diagnosed, now: number): Promise<DoctorFinding> {
  const remedy = "Synchronize the clocks (chrony, timedatectl). A server whose clock is found wrong commits nothing.";
  if (clockAheadMillis !== undefined && Math.abs(clockAheadMillis) > CLOCK_DIFFERENCE_MILLIS_MAX) {
    const side = clockAheadMillis > 0 ? "ahead of" : "behind";
    const millis = String(Math.abs(clockAheadMillis));
    return CLOCK.fail(`The clock of this machine is ${millis} ms ${side} the database's.`, remedy);
  }
  const times = await Promise.all(cells.map(newestRowAt));
  const newest = Math.max(...times.map((time) => time ?? -Infinity));
  if (newest - now > CLOCK_DIFFERENCE_MILLIS_MAX) {
    return CLOCK.fail(
      `The newest row of the books is of ${new Date(newest).toISOString()}, which is in the future: a clock is or was wrong.`,
      `${remedy} If this clock is right and the row is wrong: kesc book accept-clock (docs/operations.md).`,
    );
  }
  const compared =
    clockAheadMillis === undefined
      ? ""
      : `agrees with the database's to ${String(Math.abs(clockAheadMillis))} ms, and `;
  return CLOCK.ok(`The clock ${compared}is not behind the newest row of the books.`);
}

/** Checks what the role of PostgreSQL may do; on SQLite the mode of the file decides. */
export function checkRole({ role }: Diagnosed): CheckResult {
  if (role === undefined) return [];
  const { name, powers, missingRights: missing } = role;
  if (missing.length > 0) {
    return ROLE.fail(
      `The role ${name} lacks ${some(missing)}. A server with it fails.`,
      `As the owner of the tables, run: kesc migrate --grant-to ${name}`,
    );
  }
  if (powers.length > 0) {
    return ROLE.warn(
      `The role ${name} may change journal rows: ${some(powers)}.`,
      "Let the servers run with a role of their own: kesc migrate --grant-to ROLE (docs/run.md).",
    );
  }
  return ROLE.ok(`The role ${name} may add journal rows, and not change them.`);
}

export function databaseName(address: DatabaseAddress): string {
  return address.engine === "sqlite" ? address.filename : "PostgreSQL";
}

function some(texts: readonly string[]): string {
  const more = texts.length - SHOWN_MAX;
  return texts.slice(0, SHOWN_MAX).join("; ") + (more > 0 ? `; and ${String(more)} more` : "");
}

function count(number: number, noun: string): string {
  return `${String(number)} ${noun}${number === 1 ? "" : "s"}`;
}
