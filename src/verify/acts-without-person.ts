import { isOfMachine } from "../domain/values/actor.js";
import type { RowOf } from "../model/column.js";
import type { JOURNAL } from "../model/transactions.js";

/** An act of the machine, in a book or in the list of operators. */
interface ActWithoutPerson {
  /** Undefined for an act about operators. */
  readonly organizationId: string | undefined;
  readonly seq: number;
  readonly kind: string;
  /** In Unix milliseconds. */
  readonly recordedAt: number;
}

type DatedRow = Pick<RowOf<typeof JOURNAL>, "seq" | "kind" | "actor" | "recorded_at">;

/** The last time that a Date can hold, in Unix milliseconds. */
const TIME_MAX = 8_640_000_000_000_000;

/**
 * Counts the acts of the machine since the first operator was created. Their rows name no person.
 * They are no error: an emergency may need them. The act that created the first operator is the
 * last one that nobody else could do.
 */
export class ActsWithoutPerson {
  #since: number | undefined;
  #count = 0;
  #newest: ActWithoutPerson | undefined;

  get count(): number {
    return this.#count;
  }

  get newest(): ActWithoutPerson | undefined {
    return this.#newest;
  }

  /** Takes all acts about operators in the order of `seq`, before any row of a book. */
  aboutOperators(row: DatedRow): void {
    if (this.#since === undefined) this.#since = row.recorded_at;
    else this.#add(undefined, row);
  }

  inBook(organizationId: string, row: DatedRow): void {
    if (this.#since !== undefined && row.recorded_at >= this.#since) this.#add(organizationId, row);
  }

  #add(organizationId: string | undefined, { seq, kind, actor, recorded_at: recordedAt }: DatedRow): void {
    if (!isOfMachine(actor)) return;
    this.#count += 1;
    // A changed time may be none.
    if (recordedAt > TIME_MAX || recordedAt < (this.#newest?.recordedAt ?? 0)) return;
    this.#newest = { organizationId, seq, kind, recordedAt };
  }
}
