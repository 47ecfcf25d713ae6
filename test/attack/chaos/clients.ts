import { setTimeout as sleep } from "node:timers/promises";

import { status as Status } from "@grpc/grpc-js";

import { GrpcCaller, type GrpcReply } from "../../support/callers/grpc-caller.js";
import type { Random } from "../random.js";

/** A command that the service has acknowledged. */
export interface Acknowledged {
  readonly kind: "CreateAccount" | "Mint" | "Redeem";
  /** The natural key of the command: the reference, or the user_id of an account. */
  readonly naturalKey: string;
  /** The id of the transaction or account that it made. */
  readonly id: string;
  /** The account that it made or moved. */
  readonly accountId: string;
  /** The change of the account's balance. */
  readonly cents: number;
}

interface Command {
  readonly kind: Acknowledged["kind"];
  readonly naturalKey: string;
  readonly request: Readonly<Record<string, string>>;
  readonly cents: number;
}

/** The record of all that the clients sent and received. */
export interface Account {
  readonly acknowledged: readonly Acknowledged[];
  /** The number of calls that were repeated after an error that allows it. */
  readonly retries: number;
  /** Replies that no client may ever get. */
  readonly violations: readonly string[];
}

const CONNECTIONS_TO_EACH_SERVER = 2;
export const CALL_MILLIS_MAX = 5_000;
export const SETTLE_MILLIS_MAX = 60_000;
const RICH_ACCOUNTS = 8;
const RICH_CENTS = 100_000_000;
const AMOUNT_CENTS_MAX = 10_000;
export const RETRYABLE: readonly number[] = [Status.UNAVAILABLE, Status.DEADLINE_EXCEEDED, Status.RESOURCE_EXHAUSTED];
// By default, a client that has lost its server waits up to two minutes before it connects again.
export const IMPATIENT = {
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.min_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": 200,
};

/**
 * The clients of one organization. They follow docs/api.md: each repeats a command, with the same
 * reference, until it knows the outcome. Then it goes on to the next. Some repeat a command even
 * then.
 */
export class Clients implements Account {
  readonly acknowledged: Acknowledged[] = [];
  readonly violations: string[] = [];
  retries = 0;
  readonly #random: Random;
  readonly #count: number;
  readonly #callers: readonly GrpcCaller[];
  readonly #richAccounts: string[] = [];
  readonly #accounts: string[] = [];
  #commands = 0;
  #stopping = false;
  #giveUpAt = Infinity;
  #working: Promise<unknown> = Promise.resolve();
  #onGoodCall: ((startedAt: number) => void) | undefined;

  /** Each call goes to one of the servers, and so does each repetition. */
  constructor(addresses: readonly string[], { key, random, count }: { key: string; random: Random; count: number }) {
    this.#random = random;
    this.#count = count;
    const connections = Array.from({ length: CONNECTIONS_TO_EACH_SERVER }, () => addresses).flat();
    this.#callers = connections.map((address) => new GrpcCaller(address, { key, channelOptions: IMPATIENT }));
  }

  /** Makes some accounts that are rich enough for every redemption, and then calls until `stop`. */
  async start(): Promise<void> {
    for (let count = 0; count < RICH_ACCOUNTS; count += 1) {
      const id = await this.#settle(this.#createAccount());
      if (id === undefined) throw new Error(this.violations.join());
      await this.#settle(this.#move("Mint", id, RICH_CENTS));
      this.#richAccounts.push(id);
    }
    this.#working = Promise.all(Array.from({ length: this.#count }, () => this.#work()));
  }

  /**
   * Resolves with the milliseconds from now to the first good reply to a call that begins after
   * now.
   */
  firstGoodAnswer(): Promise<number> {
    const from = performance.now();
    return new Promise((resolve) => {
      this.#onGoodCall = (startedAt) => {
        if (startedAt < from) return;
        this.#onGoodCall = undefined;
        resolve(performance.now() - from);
      };
    });
  }

  /** Begins no further command, and resolves when every begun command is settled. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#giveUpAt = performance.now() + SETTLE_MILLIS_MAX;
    await this.#working;
    for (const caller of this.#callers) caller.close();
  }

  async #work(): Promise<void> {
    while (!this.#stopping) {
      const command = this.#next();
      const id = await this.#settle(command);
      if (id !== undefined && command.kind === "CreateAccount") this.#accounts.push(id);
    }
  }

  #next(): Command {
    const random = this.#random;
    if (random.chance(0.15)) return this.#createAccount();
    const cents = random.between(1, AMOUNT_CENTS_MAX);
    return random.chance(0.3)
      ? this.#move("Redeem", random.pick(this.#richAccounts), cents)
      : this.#move("Mint", random.pick([...this.#richAccounts, ...this.#accounts.slice(-RICH_ACCOUNTS)]), cents);
  }

  #createAccount(): Command {
    const naturalKey = `user-${String((this.#commands += 1))}`;
    return {
      kind: "CreateAccount",
      naturalKey,
      request: { user_id: naturalKey, phone_number: "0712345678" },
      cents: 0,
    };
  }

  #move(kind: "Mint" | "Redeem", accountId: string, cents: number): Command {
    const naturalKey = `reference-${String((this.#commands += 1))}`;
    const request = { account_id: accountId, amount: (cents / 100).toFixed(2), reference: naturalKey };
    return { kind, naturalKey, request, cents: kind === "Mint" ? cents : -cents };
  }

  /**
   * Repeats the command until its outcome is known. Returns the id of what it made; undefined on a
   * violation.
   */
  async #settle(command: Command): Promise<string | undefined> {
    const answer = await this.#untilKnown(command);
    if (answer === undefined) return undefined;
    const { kind, naturalKey, request, cents } = command;
    const id = idOf(answer);
    this.acknowledged.push({ kind, naturalKey, id, accountId: request["account_id"] ?? id, cents });
    if (this.#random.chance(0.05)) {
      const again = await this.#untilKnown(command);
      if (again !== undefined && idOf(again) !== id) {
        this.violations.push(`${kind} ${naturalKey} was answered with ${id}, and again with ${idOf(again)}`);
      }
    }
    return id;
  }

  async #untilKnown({ kind, naturalKey, request }: Command): Promise<GrpcReply | undefined> {
    for (;;) {
      const startedAt = performance.now();
      const answer = await this.#random.pick(this.#callers).call(kind, request, { deadlineMillis: CALL_MILLIS_MAX });
      if (answer.code === 0) {
        this.#onGoodCall?.(startedAt);
        return answer;
      }
      const said = `${kind} ${naturalKey}: ${Status[answer.code] ?? ""} ${answer.reason ?? ""} ${answer.message}`;
      if (!RETRYABLE.includes(answer.code)) {
        this.violations.push(said);
        return undefined;
      }
      if (performance.now() > this.#giveUpAt) {
        this.violations.push(`never settled: ${said}`);
        return undefined;
      }
      this.retries += 1;
      await sleep(this.#random.between(20, 200));
    }
  }
}

function idOf({ response }: GrpcReply): string {
  const resource = (response["transaction"] ?? response["account"]) as { id: string };
  return resource.id;
}
