import { REVEALS_MAX } from "../../../domain/accounts/reveal-account.js";
import type { Actor } from "../../../domain/values/actor.js";
import type { UnixMillis } from "../../../domain/values/time.js";
import type { Engine } from "../engine.js";

/** The newest reveals of one person. */
export interface RevealsRow {
  readonly actor: string;
  /** A JSON array of `{"recorded_at": 1}`. Null without any. */
  readonly times: string | null;
}

/** Returns the SELECT of the persons whom the SELECT `persons` names in its column `value`. */
export function revealsSelect({ table, jsonRows }: Engine, persons: string): string {
  const newest = `(
    SELECT j.recorded_at FROM ${table("journal")} j WHERE j.kind = 'account.revealed' AND j.actor = i.value
    ORDER BY j.recorded_at DESC LIMIT ${String(REVEALS_MAX)}
  ) r`;
  return `SELECT i.value AS actor, ${jsonRows("r", { recorded_at: "int64" }, newest)} AS times FROM (${persons}) i`;
}

/** Returns the times of each person, oldest first. */
export function revealsOf(rows: readonly RevealsRow[]): ReadonlyMap<Actor, readonly UnixMillis[]> {
  return new Map(
    rows.map(({ actor, times }) => {
      const found = JSON.parse(times ?? "[]") as readonly { readonly recorded_at: UnixMillis }[];
      return [actor as Actor, found.map(({ recorded_at: at }) => at).sort((left, right) => left - right)];
    }),
  );
}
