import { Queue } from "./queue.js";

/** The calls, or requests, of one caller that wait for their turn. */
interface CallLine {
  readonly caller: string;
  readonly calls: Queue<WaitingCall>;
  /** The turns that the line still has to skip, because its last call was large. */
  debt: number;
}

interface WaitingCall {
  readonly cost: number;
  readonly begin: () => void;
}

// The calls that begin together. They share micro-batches, and the committer starts on their
// commands while the event loop still reads the other calls of the turn (docs/adr/0012).
const TOGETHER = 32;
// The calls that begin in one turn of the event loop. The loop reads the sockets between two turns,
// so a caller with thousands of calls delays the others by a few milliseconds. With 256 the others
// kept 0.1 of their rate beside 4,000 calls, with 64 they kept 0.4 (docs/adr/0026).
const CALLS_OF_LOOP_TURN_MAX = 64;
// A batch of 1,000 mints has some 100 KB and takes the event loop as long as 200 single mints.
const BYTES_OF_TURN = 512;
const COST_MAX = 256;

/**
 * Decides when calls begin. Callers take turns, so none can keep the event loop from the others
 * (docs/adr/0026). A call whose request is large uses several turns of its caller, and of the event
 * loop.
 *
 * Keeps the order of the calls of one caller.
 */
export class FairTurns {
  readonly #lines = new Map<string, CallLine>();
  readonly #order = new Queue<CallLine>();
  #length = 0;
  #scheduled = false;
  /** The turns that are left in this turn of the event loop. A large call may use more. */
  #left = CALLS_OF_LOOP_TURN_MAX;

  /** The number of waiting calls. */
  get length(): number {
    return this.#length;
  }

  /** `begin` must not throw. */
  add(caller: string, requestBytes: number, begin: () => void): void {
    let line = this.#lines.get(caller);
    if (line === undefined) {
      line = { caller, calls: new Queue(), debt: 0 };
      this.#lines.set(caller, line);
      this.#order.push(line);
    }
    line.calls.push({ cost: Math.min(COST_MAX, Math.floor(requestBytes / BYTES_OF_TURN)), begin });
    this.#length += 1;
    this.#schedule();
    if (this.#length >= TOGETHER && this.#left >= TOGETHER) this.#begin(TOGETHER);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#left = CALLS_OF_LOOP_TURN_MAX;
      this.#begin(CALLS_OF_LOOP_TURN_MAX);
      if (this.#length > 0) this.#schedule();
    });
  }

  #begin(count: number): void {
    for (let begun = 0; begun < count; begun += 1) {
      const call = this.#next();
      if (call === undefined) return;
      this.#left -= 1 + call.cost;
      call.begin();
    }
  }

  #next(): WaitingCall | undefined {
    if (this.#left <= 0) return undefined;
    let line = this.#order.shift();
    // A skipped turn counts, also when no other line waits: the loop reads the sockets of others
    // before the next large call.
    while (line !== undefined && line.debt > 0) {
      line.debt -= 1;
      this.#left -= 1;
      this.#order.push(line);
      if (this.#left <= 0) return undefined;
      line = this.#order.shift();
    }
    const call = line?.calls.shift();
    if (line === undefined || call === undefined) return undefined;
    this.#length -= 1;
    line.debt = call.cost;
    if (line.calls.length > 0) this.#order.push(line);
    else this.#lines.delete(line.caller);
    return call;
  }
}
