import type { Command } from "../../src/domain/operations.js";
import type { AccountId, FreezeId, OrganizationId, TransactionId } from "../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import type { History } from "../../src/statements/as-of.js";
import type { BookMark, MarkedAccount } from "../../src/statements/mark-ports.js";
import { Marker } from "../../src/statements/marker.js";
import type { Database } from "../../src/storage/database.js";
import { keys } from "../../src/storage/keys.js";
import { historyReads } from "../../src/storage/statements/history.js";
import { markStore } from "../../src/storage/statements/marks.js";
import { Random } from "../attack/random.js";
import { newAccountId, SLOW_RAIL } from "../support/names.js";
import { closeAccount, createAccount, freezeAccount, unfreezeAccount } from "../support/operations/accounts.js";
import { cancel, mint, redeem } from "../support/operations/transactions.js";

/** What the model knows of an account at one moment. */
export interface AccountState {
  readonly availableCents: number;
  readonly heldCents: number;
  readonly status: "ACTIVE" | "FROZEN" | "CLOSED";
  readonly freezes: readonly FreezeId[];
}

/** The state of all accounts after the batch that was committed at `time`. */
interface Moment {
  readonly time: UnixMillis;
  readonly states: ReadonlyMap<AccountId, AccountState>;
  /** What came in and went out of each account since the beginning. */
  readonly totals: ReadonlyMap<AccountId, Totals>;
}

export interface Totals {
  readonly inCents: number;
  readonly outCents: number;
}

const BATCH = 100;

/** A history that really happened, and a model that followed it without looking at the database. */
export class RandomHistory {
  readonly organizationId: OrganizationId;
  readonly accounts: AccountId[] = [];
  readonly moments: Moment[] = [];
  readonly #database: Database;
  readonly #random: Random;
  readonly #start: number;
  readonly #stepMillis: number;
  readonly #states = new Map<AccountId, AccountState>();
  readonly #totals = new Map<AccountId, Totals>();
  readonly #holds: { accountId: AccountId; id: TransactionId; cents: number }[] = [];
  #references = 0;

  private constructor(database: Database, organizationId: OrganizationId, { seed, start, stepMillis = 1_000 }: Given) {
    this.#database = database;
    this.organizationId = organizationId;
    this.#random = new Random(seed);
    this.#start = start;
    this.#stepMillis = stepMillis;
  }

  /** Makes a history of random commands on some accounts. The first account is the busiest. */
  static async make(database: Database, given: Given): Promise<RandomHistory> {
    const { id } = await keys(database, () => toUnixMillis(given.start)).createOrganization("random");
    const history = new RandomHistory(database, id, given);
    await history.#commit([...Array(given.accounts).keys()].map((index) => history.#newAccount(index)));
    for (let batch = 0; batch < given.batches; batch++) {
      await history.#commit(Array.from({ length: BATCH }, () => history.#anyCommand()));
    }
    return history;
  }

  get end(): UnixMillis {
    return toUnixMillis(this.#start + (this.moments.length + 1) * this.#stepMillis);
  }

  /** The last moment before a time. */
  before(time: UnixMillis): Moment | undefined {
    return this.moments.findLast((moment) => moment.time < time);
  }

  anyTime(): UnixMillis {
    return toUnixMillis(this.#start + this.#random.below(this.end - this.#start + this.#stepMillis));
  }

  anyAccount(): AccountId {
    return this.accounts[this.#random.below(this.accounts.length)] ?? newAccountId();
  }

  async #commit(commands: readonly Command[]): Promise<void> {
    const time = this.end;
    const results = await this.#database.cells[0].committer.commit(commands, time);
    for (const [index, result] of results.entries()) {
      const command = commands[index];
      if (result.kind === "bug") throw new Error(String(result.error));
      if (command !== undefined && result.kind === "done") this.#apply(command);
    }
    this.moments.push({ time, states: new Map(this.#states), totals: new Map(this.#totals) });
  }

  #newAccount(index: number): Command {
    return createAccount(this.organizationId, `user-${String(index)}`);
  }

  #anyCommand(): Command {
    const { organizationId } = this;
    const busy = this.accounts[0] ?? newAccountId();
    const accountId = this.#random.below(2) === 0 ? busy : this.anyAccount();
    const dice = this.#random.below(100);
    this.#references += 1;
    const reference = `r-${String(this.#references)}`;
    const amount = `${String(1 + this.#random.below(500))}.${String(10 + this.#random.below(90))}`;
    const movement = { organizationId, accountId, amount, reference };
    if (dice < 45) return mint(movement);
    if (dice < 70) return redeem(movement);
    if (dice < 82) return redeem({ ...movement, rail: SLOW_RAIL });
    const hold = this.#holds[this.#random.below(this.#holds.length)];
    if (dice < 94 && hold !== undefined) return cancel(organizationId, hold.id);
    const freezes = this.#states.get(accountId)?.freezes ?? [];
    if (freezes.length > 0) return unfreezeAccount(organizationId, accountId, freezes[0] ?? ("" as FreezeId));
    if (dice < 99) return freezeAccount(organizationId, accountId);
    return closeAccount(organizationId, this.anyAccount());
  }

  /** The rules once more, in the model's own words. The service has accepted the command. */
  #apply(command: Command): void {
    if (command.name === "createAccount") {
      this.accounts.push(command.newAccountId);
      this.#states.set(command.newAccountId, { availableCents: 0, heldCents: 0, status: "ACTIVE", freezes: [] });
      return;
    }
    if (command.name === "cancelTransaction") {
      const index = this.#holds.findIndex(({ id }) => id === command.transactionId);
      const [hold] = index === -1 ? [] : this.#holds.splice(index, 1);
      if (hold !== undefined) this.#move(hold.accountId, hold.cents, -hold.cents);
      return;
    }
    if (!("accountId" in command) || command.accountId === undefined) return;
    const { accountId } = command;
    const state = this.#states.get(accountId);
    if (state === undefined) throw new Error(`the model does not know ${accountId}`);
    if (command.name === "mint") this.#move(accountId, command.amountCents, 0);
    else if (command.name === "redeem" && command.rail !== SLOW_RAIL) this.#move(accountId, 0 - command.amountCents, 0);
    else if (command.name === "redeem") {
      this.#holds.push({ accountId, id: command.newTransactionId, cents: command.amountCents });
      this.#move(accountId, 0 - command.amountCents, command.amountCents);
    } else if (command.name === "freezeAccount") {
      this.#states.set(accountId, { ...state, status: "FROZEN", freezes: [...state.freezes, command.newFreezeId] });
    } else if (command.name === "unfreezeAccount") {
      const freezes = state.freezes.filter((id) => id !== command.freezeId);
      this.#states.set(accountId, { ...state, status: freezes.length > 0 ? "FROZEN" : "ACTIVE", freezes });
    } else if (command.name === "closeAccount") {
      this.#states.set(accountId, { ...state, status: "CLOSED" });
    }
  }

  #move(accountId: AccountId, available: number, held: number): void {
    const state = this.#states.get(accountId);
    if (state === undefined) throw new Error(`the model does not know ${accountId}`);
    const availableCents = state.availableCents + available;
    const heldCents = state.heldCents + held;
    this.#states.set(accountId, { ...state, availableCents, heldCents });
    const { inCents, outCents } = this.#totals.get(accountId) ?? { inCents: 0, outCents: 0 };
    const change = available + held;
    this.#totals.set(accountId, {
      inCents: inCents + Math.max(0, change),
      outCents: outCents + Math.max(0, -change),
    });
  }
}

interface Given {
  readonly seed: number;
  /** The time of the organization. Each batch is a step later. */
  readonly start: number;
  /** One second if it is not given. */
  readonly stepMillis?: number;
  readonly accounts: number;
  readonly batches: number;
}

/** The reads of a history, and how many rows each looked at. */
export function historyOf(
  database: Database,
  organizationId: OrganizationId,
): { history: History; lookedAt: number[] } {
  const lookedAt: number[] = [];
  const history: History = {
    organizationId,
    reads: historyReads(database.cells[0]),
    inTurn: async (read) => {
      const looked = await read();
      lookedAt.push(looked.lookedAt);
      return looked.result;
    },
  };
  return { history, lookedAt };
}

/** Marks all books, as a server that has the lease does. Returns what it saved. */
export async function markAll(
  database: Database,
): Promise<{ readonly mark: BookMark; readonly accounts: readonly MarkedAccount[] }[]> {
  const saved: { mark: BookMark; accounts: readonly MarkedAccount[] }[] = [];
  const store = markStore(database.cells[0]);
  const marker = new Marker({
    store: {
      ...store,
      save: (mark, accounts) => {
        saved.push({ mark, accounts });
        return store.save(mark, accounts);
      },
    },
    lease: { leftMillis: () => 60_000 },
    timing: { monotonicMillis: () => 0, wait: () => Promise.resolve() },
    onError: (error) => {
      throw error;
    },
  });
  await marker.round();
  return saved;
}
