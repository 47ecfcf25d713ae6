import { setTimeout as sleep } from "node:timers/promises";

import { status as Status } from "@grpc/grpc-js";

import { GrpcCaller } from "../../support/callers/grpc-caller.js";
import { CALL_MILLIS_MAX, IMPATIENT, RETRYABLE, SETTLE_MILLIS_MAX } from "../chaos/clients.js";

const READERS = 4;
const PAUSE_MILLIS = 50;
const CALLS = ["ListTransactions", "ListAccounts", "GetSupply", "ListEvents"] as const;

/** Read all the time, at each server in turn, and repeat a read as the clients repeat a command. */
export class Readers {
  reads = 0;
  retries = 0;
  readonly failed: string[] = [];
  readonly #callers: readonly GrpcCaller[];
  #isOver = false;
  #working: Promise<unknown> = Promise.resolve();

  constructor(addresses: readonly string[], key: string) {
    this.#callers = addresses.map((address) => new GrpcCaller(address, { key, channelOptions: IMPATIENT }));
  }

  start(): void {
    this.#working = Promise.all(Array.from({ length: READERS }, (_, reader) => this.#work(reader)));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#working;
    for (const caller of this.#callers) caller.close();
  }

  async #work(first: number): Promise<void> {
    for (let turn = first; !this.#isOver; turn += 1) {
      const problem = await this.#read(turn);
      if (problem === undefined) this.reads += 1;
      else this.failed.push(problem);
      await sleep(PAUSE_MILLIS);
    }
  }

  /** Resolves with what went wrong in the last try. */
  async #read(turn: number): Promise<string | undefined> {
    const call = CALLS[turn % CALLS.length] ?? "GetSupply";
    const giveUpAt = performance.now() + SETTLE_MILLIS_MAX;
    for (let tries = 0; ; tries += 1) {
      const caller = this.#callers[(turn + tries) % this.#callers.length];
      const reply = await caller?.call(call, {}, { deadlineMillis: CALL_MILLIS_MAX });
      const { code, message } = reply ?? { code: Status.UNKNOWN, message: "no server" };
      if (code === 0) return undefined;
      const mayRepeat = RETRYABLE.includes(code) && performance.now() < giveUpAt;
      if (!mayRepeat) return `${call}: ${Status[code] ?? ""} ${message}`;
      this.retries += 1;
      await sleep(PAUSE_MILLIS);
    }
  }
}
