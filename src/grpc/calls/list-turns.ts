import { setTimeout as sleep } from "node:timers/promises";

import { Queue } from "../../../runtime/queue.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { LedgerRefusal } from "../../ledger/ports/outcome.js";
import type { Page } from "../../ledger/ports/reads.js";
import type { BookOwner } from "../../operators/reads.js";
import { actorOf, type Caller, lineOf } from "./call-context.js";
import { done, refuse, type RpcResult } from "./rpc-result.js";

export interface ListTurnsOptions {
  readonly now: () => UnixMillis;
  /** The number of lists that the database should run at once. */
  readonly underWayMax: number;
}

export type ListRefusal = Extract<LedgerRefusal, { reason: "QUEUE_FULL" | "DEADLINE_EXCEEDED" }>;

/** The caller of a list, who waits in the line of the organization of a key, or of an operator. */
export type ListCaller = Pick<Caller<BookOwner | undefined>, "who" | "organization" | "deadline">;

/** By which id the lists of a caller are counted, and in which line they wait. */
interface ListPlace {
  readonly id: string;
  readonly line: string;
}

/** What a page has read. */
export type PageCost = Pick<Page<unknown>, "rows" | "lookedAt">;

interface WaitingList {
  readonly deadline: UnixMillis;
  /** Reads the page. Resolves with the time to rest, in milliseconds, and never rejects. */
  readonly begin: () => Promise<number>;
  readonly refuse: (refusal: ListRefusal) => void;
}

/** The lists of an organization or operator. They run one after another, with a rest after each. */
interface ListLine {
  /** The id of the organization or operator. */
  readonly name: string;
  readonly waiting: Queue<WaitingList>;
  /** The number of lists that wait or run. */
  lists: number;
  /** Whether a list of the line runs or rests, or the line waits for its turn. */
  isBusy: boolean;
}

const NEVER = toUnixMillis(Number.MAX_SAFE_INTEGER);
const LISTS_PER_KEY_MAX = 8;
const LISTS_PER_ORGANIZATION_MAX = 32;
// A caller that is refused at once would only ask again, and keep the server busy with refusals.
const REFUSAL_MILLIS = 100;
// A row that is looked at takes 2 to 6 µs of the database, and a row of the page another 10 µs of
// the event loop. With these rests one organization's lists leave most of both to others.
const REST_MILLIS_PER_ROW_LOOKED_AT = 0.02;
const REST_MILLIS_PER_ROW = 0.03;

/**
 * Lets the lists of all callers take turns. A list reads much more than any other call, so without
 * turns a few callers with endless lists would slow everyone (docs/fairness.md).
 *
 * The lists of one organization run one after another. After each, the organization rests in
 * proportion to what the list read. A key can have 8 lists waiting or under way, an organization
 * 32; one more is refused with QUEUE_FULL.
 */
export class ListTurns {
  readonly #options: ListTurnsOptions;
  readonly #lines = new Map<string, ListLine>();
  /** The lines whose next list may begin, in their order. */
  readonly #turns = new Queue<ListLine>();
  readonly #listsOf = new Map<string, number>();
  #underWay = 0;

  constructor(options: ListTurnsOptions) {
    this.#options = options;
  }

  /** The number of lists that wait. */
  get waiting(): number {
    let waiting = 0;
    for (const line of this.#lines.values()) waiting += line.waiting.length;
    return waiting;
  }

  /** Refuses a caller who has too many lists that wait or run. */
  async refusalOf(caller: Omit<ListCaller, "deadline">): Promise<ListRefusal | undefined> {
    return this.#isFull(placeOf(caller)) ? refusedLater() : undefined;
  }

  /** Reads a page when its turn comes. Rejects with the error of `read`. */
  async page<Read extends PageCost>(caller: ListCaller, read: () => Promise<Read>): Promise<Read | ListRefusal> {
    const { id, line } = placeOf(caller);
    if (this.#isFull({ id, line })) return refusedLater();
    this.#listsOf.set(id, (this.#listsOf.get(id) ?? 0) + 1);
    try {
      return await this.#inTurn(line, caller.deadline, read);
    } finally {
      const left = (this.#listsOf.get(id) ?? 1) - 1;
      if (left > 0) this.#listsOf.set(id, left);
      else this.#listsOf.delete(id);
    }
  }

  /**
   * Reads a page of a stream when its turn comes. While the key has too many lists, the stream
   * waits: each refusal takes its time. It has no deadline, and is refused only once the signal has
   * aborted.
   */
  async pageOfStream<Read extends PageCost>(
    { caller, signal }: { readonly caller: Omit<ListCaller, "deadline">; readonly signal: AbortSignal },
    read: () => Promise<Read>,
  ): Promise<Read | ListRefusal> {
    while (!signal.aborted) {
      const page = await this.page({ ...caller, deadline: NEVER }, read);
      if (!("reason" in page)) return page;
    }
    return { reason: "DEADLINE_EXCEEDED" };
  }

  #isFull({ id, line }: ListPlace): boolean {
    const ofKey = this.#listsOf.get(id) ?? 0;
    const ofLine = this.#lines.get(line)?.lists ?? 0;
    return ofKey >= LISTS_PER_KEY_MAX || ofLine >= LISTS_PER_ORGANIZATION_MAX;
  }

  #inTurn<Read extends PageCost>(
    name: string,
    deadline: UnixMillis,
    read: () => Promise<Read>,
  ): Promise<Read | ListRefusal> {
    return new Promise((resolve) => {
      const begin = (): Promise<number> => {
        const reading = read();
        resolve(reading);
        return reading.then(restMillisAfter, () => 0);
      };
      const line = this.#lineOf(name);
      line.waiting.push({ deadline, begin, refuse: resolve });
      line.lists += 1;
      if (!line.isBusy) this.#queue(line);
    });
  }

  #lineOf(name: string): ListLine {
    let line = this.#lines.get(name);
    if (line === undefined) {
      line = { name, waiting: new Queue(), lists: 0, isBusy: false };
      this.#lines.set(name, line);
    }
    return line;
  }

  /** Lets the line wait for its turn, or forgets it if no list waits. */
  #queue(line: ListLine): void {
    line.isBusy = line.waiting.length > 0;
    if (line.isBusy) this.#turns.push(line);
    else this.#lines.delete(line.name);
    this.#beginLists();
  }

  #beginLists(): void {
    while (this.#underWay < this.#options.underWayMax) {
      const line = this.#turns.shift();
      const list = line?.waiting.shift();
      if (line === undefined || list === undefined) return;
      void this.#run(line, list);
    }
  }

  async #run(line: ListLine, { deadline, begin, refuse }: WaitingList): Promise<void> {
    this.#underWay += 1;
    const isLate = deadline <= this.#options.now();
    if (isLate) refuse({ reason: "DEADLINE_EXCEEDED" });
    const restMillis = isLate ? 0 : await begin();
    this.#underWay -= 1;
    line.lists -= 1;
    this.#beginLists();
    if (restMillis >= 1) await sleep(restMillis);
    this.#queue(line);
  }
}

function placeOf(caller: Omit<ListCaller, "deadline">): ListPlace {
  return { id: actorOf(caller.who), line: lineOf(caller) };
}

async function refusedLater(): Promise<ListRefusal> {
  await sleep(REFUSAL_MILLIS);
  return { reason: "QUEUE_FULL" };
}

function restMillisAfter({ lookedAt, rows }: PageCost): number {
  return lookedAt * REST_MILLIS_PER_ROW_LOOKED_AT + rows.length * REST_MILLIS_PER_ROW;
}

/**
 * Reads a page when the turn of the caller comes, and makes the response of it. Refuses QUEUE_FULL,
 * DEADLINE_EXCEEDED.
 */
export async function pageInTurn<Read extends PageCost, Response>(
  { listTurns, caller }: { readonly listTurns: ListTurns; readonly caller: ListCaller },
  read: () => Promise<Read>,
  responseOf: (page: Read) => Response,
): Promise<RpcResult<Response>> {
  const page = await listTurns.page(caller, read);
  return "reason" in page ? refuse(page) : done(responseOf(page));
}
