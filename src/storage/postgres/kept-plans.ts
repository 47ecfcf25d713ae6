import { createHash } from "node:crypto";

import pg from "pg";

import type { Settings } from "./address.js";

// See https://www.postgresql.org/docs/current/errcodes-appendix.html.
const INVALID_STATEMENT_NAME = "26000";
const DUPLICATE_STATEMENT = "42P05";
/** "cached plan must not change result type" has the code of many other errors. */
const REVALIDATION = "RevalidateCachedQuery";

const REPLAN_MILLIS = 1_000;
/** So many transactions of a connection, of up to 256 commands, each make their plans anew. */
const FIRST_USES = 64;
/** Up to here each power of two does. */
const GROWING_USES_MAX = 4_096;

/**
 * A plan is kept whatever is asked, and never reads a table by scan or hash: it was made when the
 * table was small, or for as many keys as PostgreSQL guesses.
 */
export const LOOK_UPS_OF_KEPT_PLANS: Settings = {
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  plan_cache_mode: "force_generic_plan",
};

/**
 * The names under which PostgreSQL keeps the statements of the ledger with their plans. Parsing and
 * planning them anew took half of the time of a lone mint (docs/adr/0013).
 *
 * Behind a pooler that knows no names, such as PgBouncer below 1.21, the first refusal ends them.
 */
export class KeptPlans {
  readonly #onRefused: () => void;
  readonly #names = new Map<string, string>();
  readonly #discards = new WeakMap<object, { uses: number; at: number }>();
  #areKept = true;

  /** `onRefused` is called once, if PostgreSQL or a pooler in between refuses the names. */
  constructor(onRefused: () => void) {
    this.#onRefused = onRefused;
  }

  /** Returns the name of a statement. Undefined if names are refused. */
  nameOf(sql: string): string | undefined {
    if (!this.#areKept) return undefined;
    let name = this.#names.get(sql);
    // By the text: servers of two versions may share a connection of a pooler.
    if (name === undefined) this.#names.set(sql, (name = createHash("sha256").update(sql).digest("base64url")));
    return name;
  }

  /**
   * Whether a transaction that begins on this connection discards the plans. A plan that was made
   * for an empty table takes the wrong index when the table has grown, so plans are made anew as
   * often as tables can double.
   */
  areOldOn(connection: object): boolean {
    const now = performance.now();
    const last = this.#discards.get(connection) ?? { uses: 0, at: now };
    this.#discards.set(connection, last);
    last.uses += 1;
    const isPowerOfTwo = (last.uses & (last.uses - 1)) === 0 && last.uses <= GROWING_USES_MAX;
    if (last.uses > FIRST_USES && !isPowerOfTwo && now - last.at < REPLAN_MILLIS) return false;
    last.at = now;
    return true;
  }

  /** Notes an error. Ends the names if it refuses one. */
  note(error: unknown): void {
    if (!this.#areKept || !refusesName(error)) return;
    this.#areKept = false;
    this.#onRefused();
  }
}

/**
 * Whether PostgreSQL refuses a statement that it keeps, and would take the same statement on
 * another connection: its table has changed, or a pooler gave the connection of another client.
 */
export function refusesKeptPlan(error: unknown): boolean {
  return refusesName(error) || (error instanceof pg.DatabaseError && error.routine === REVALIDATION);
}

function refusesName(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === INVALID_STATEMENT_NAME || error.code === DUPLICATE_STATEMENT;
}
