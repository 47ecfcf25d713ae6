import type { ApiKeyId, OrganizationId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { FairQueue } from "../../ledger/fair-queue.js";
import type { LedgerRefusal } from "../../ledger/ports/outcome.js";
import type { Page } from "../../ledger/ports/reads.js";
import type { Caller } from "../calls/call-context.js";

export interface ListTurnsOptions {
  readonly now: () => UnixMillis;
  /** The number of lists that the database should run at once. */
  readonly underWayMax: number;
}

interface WaitingList {
  readonly deadline: UnixMillis;
  readonly begin: () => Promise<void>;
  readonly refuse: (refusal: ListRefusal) => void;
}

export type ListRefusal = Extract<LedgerRefusal, { reason: "QUEUE_FULL" | "DEADLINE_EXCEEDED" }>;

// A list waits for the lists of its own organization, a few milliseconds each.
const LISTS_PER_KEY_MAX = 64;
const WAITING_MAX = 1_024;
// A row of a list takes about 10 µs of the event loop. With this rest, lists take at most a quarter
// of it: an endless loop over pages of 1,000 rows would otherwise halve the mints of all others.
const REST_MILLIS_PER_ROW = 0.03;

/**
 * Lets the lists of all callers take turns, a few at once. A key can have 64 lists waiting or under
 * way. Organizations take turns, and one organization can hold half of the places.
 */
export class ListTurns {
  readonly #options: ListTurnsOptions;
  readonly #waiting = new FairQueue<OrganizationId, WaitingList>(WAITING_MAX);
  readonly #listsOf = new Map<ApiKeyId, number>();
  #underWay = 0;
  /** No list begins before this time (performance.now()). */
  #restsUntil = 0;
  #isResting = false;

  constructor(options: ListTurnsOptions) {
    this.#options = options;
  }

  /** Reads a page when its turn comes. Rejects with the error of `read`. */
  async page<Row>(
    { key, deadline }: Pick<Caller, "key" | "deadline">,
    read: () => Promise<Page<Row>>,
  ): Promise<Page<Row> | ListRefusal> {
    const lists = this.#listsOf.get(key.id) ?? 0;
    if (lists >= LISTS_PER_KEY_MAX) return { reason: "QUEUE_FULL" };
    this.#listsOf.set(key.id, lists + 1);
    try {
      return await this.#inTurn(key.organizationId, deadline, read);
    } finally {
      const left = (this.#listsOf.get(key.id) ?? 1) - 1;
      if (left > 0) this.#listsOf.set(key.id, left);
      else this.#listsOf.delete(key.id);
    }
  }

  #inTurn<Row>(
    organizationId: OrganizationId,
    deadline: UnixMillis,
    read: () => Promise<Page<Row>>,
  ): Promise<Page<Row> | ListRefusal> {
    return new Promise((resolve, reject) => {
      const begin = (): Promise<void> =>
        read()
          .then((page) => {
            const restsFrom = Math.max(this.#restsUntil, performance.now());
            this.#restsUntil = restsFrom + page.rows.length * REST_MILLIS_PER_ROW;
            resolve(page);
          })
          .catch(reject);
      if (this.#waiting.push(organizationId, { deadline, begin, refuse: resolve })) this.#beginLists();
      else resolve({ reason: "QUEUE_FULL" });
    });
  }

  #beginLists(): void {
    if (this.#isResting || this.#waiting.length === 0) return;
    const restMillis = this.#restsUntil - performance.now();
    if (restMillis >= 1) {
      this.#isResting = true;
      setTimeout(() => {
        this.#isResting = false;
        this.#beginLists();
      }, restMillis);
      return;
    }
    while (this.#underWay < this.#options.underWayMax) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (next.deadline > this.#options.now()) void this.#begin(next);
      else next.refuse({ reason: "DEADLINE_EXCEEDED" });
    }
  }

  async #begin({ begin }: WaitingList): Promise<void> {
    this.#underWay += 1;
    await begin();
    this.#underWay -= 1;
    this.#beginLists();
  }
}
