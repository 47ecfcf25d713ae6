import type { Account, AccountWithFreeze } from "../../../src/domain/account.js";
import type { CreateAccount } from "../../../src/domain/accounts/create-account.js";
import { type ApiKey, SCOPES } from "../../../src/domain/api-key.js";
import type { DestinationNumber } from "../../../src/domain/destination.js";
import type { FreezeReason } from "../../../src/domain/freeze.js";
import type { MoveMoney } from "../../../src/domain/money/move-money.js";
import type { Command, ResourceOf } from "../../../src/domain/operations.js";
import { DIRECT_RAIL, type Transaction } from "../../../src/domain/transaction.js";
import type { Actor } from "../../../src/domain/values/actor.js";
import type { EmailAddress } from "../../../src/domain/values/email-address.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { NO_REASON, type StatusReason } from "../../../src/domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import type { Keys } from "../../../src/ledger/ports/keys.js";
import type { Cell, Database } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { revokeApiKey } from "../../support/as-machine.js";
import { ALONE, asOperator } from "../../support/commands.js";
import { SLOW_RAIL, TEST_ACTOR } from "../../support/names.js";
import {
  closeAccount,
  createAccount,
  createDestination,
  freezeAccount,
  removeDestination,
  unfreezeAccount,
  updateAccount,
} from "../../support/operations/accounts.js";
import { cancel, mint, redeem, reverse } from "../../support/operations/transactions.js";
import { changeSuspension } from "../../support/suspend.js";

const SECOND_MILLIS = 1_000;
const HOUR_MILLIS = 3_600_000;

/** Runs commands of one organization, each in a second of its own. Returns what they made. */
export class GivenBooks {
  readonly organizationId: OrganizationId;
  readonly #cell: Cell;
  /** The key of the caller. */
  #actor = TEST_ACTOR;
  readonly #now: () => UnixMillis;
  readonly #keys: Keys;
  #references = 0;

  private constructor(cell: Cell, organizationId: OrganizationId, keys: Keys, now: () => UnixMillis) {
    this.#cell = cell;
    this.organizationId = organizationId;
    this.#keys = keys;
    this.#now = now;
  }

  /**
   * Makes an organization, whose book begins an hour ago, or at `begin`. Row 2 is the key of its
   * caller.
   */
  static async open(database: Database, name?: string, begin?: number): Promise<GivenBooks> {
    const books = await GivenBooks.withoutKey(database, name, begin);
    const { organizationId } = books;
    const given = { organizationId, name: "caller", scopes: SCOPES, expiresAt: undefined };
    books.#actor = (await books.#keys.createApiKey(given)).key.id as string as Actor;
    return books;
  }

  /** The same with a caller that has no key: `kesc verify` finds that. */
  static async withoutKey(
    database: Database,
    name = "the organization",
    begin = Date.now() - HOUR_MILLIS,
  ): Promise<GivenBooks> {
    let time = begin;
    const now = (): UnixMillis => toUnixMillis((time += SECOND_MILLIS));
    const made = keys(database, now);
    const { id: organizationId } = await made.createOrganization(name);
    return new GivenBooks(database.cells[0], organizationId, made, now);
  }

  /** The author of the commands. */
  get actor(): Actor {
    return this.#actor;
  }

  async createApiKey(name: string, expiresAt?: UnixMillis): Promise<ApiKey> {
    const { organizationId } = this;
    return (await this.#keys.createApiKey({ organizationId, name, scopes: ["accounts:read"], expiresAt })).key;
  }

  async changeSuspension(isSuspended: boolean, reason: string): Promise<void> {
    const { organizationId } = this;
    await changeSuspension(this.#cell, {
      organizationId,
      isSuspended,
      reason,
      now: this.#now(),
    });
  }

  async revokeApiKey({ id }: ApiKey): Promise<void> {
    await revokeApiKey({ cells: [this.#cell] }, id, this.#now());
  }

  createAccount(userId: string, given: Partial<CreateAccount> & { key?: string } = {}): Promise<Account> {
    return this.#run(createAccount(this.organizationId, userId, given));
  }

  /** Returns the account with the freeze. */
  freeze({ id }: Account, reason: FreezeReason, note: string): Promise<AccountWithFreeze> {
    return this.#run(freezeAccount(this.organizationId, id, { reason, note: note as StatusReason }));
  }

  /** Lifts the freeze that the account came with. */
  async unfreeze({ id, freeze }: AccountWithFreeze, note: string): Promise<void> {
    const command = unfreezeAccount(this.organizationId, id, freeze.id);
    await this.#run({ ...command, note: note as StatusReason });
  }

  async close({ id }: Account, note: string): Promise<void> {
    await this.#run({ ...closeAccount(this.organizationId, id), note: note as StatusReason });
  }

  /** Gives the account another phone number. */
  async update({ id }: Account): Promise<void> {
    await this.#run(updateAccount(this.organizationId, id));
  }

  async erase({ id: accountId }: Account, note = NO_REASON as string): Promise<void> {
    const { organizationId } = this;
    const command = { name: "eraseAccount", organizationId, actor: TEST_ACTOR, authority: ALONE, accountId } as const;
    await this.#run({ ...command, note: note as StatusReason });
  }

  move(
    name: MoveMoney["name"],
    { id: accountId }: Account,
    amount: string,
    given: { rail?: MoveMoney["rail"]; key?: string } = {},
  ): Promise<Transaction> {
    return this.#run(this.#movement(name, { accountId, amount, rail: DIRECT_RAIL, ...given }));
  }

  /** Mints one shilling, `count` times in one commit. */
  async mintOften({ id: accountId }: Account, count: number): Promise<void> {
    const one = (): MoveMoney =>
      this.#byCaller(this.#movement("mint", { accountId, amount: "1.00", rail: DIRECT_RAIL }));
    await this.#cell.committer.commit(Array.from({ length: count }, one), this.#now());
  }

  /** Undoes the transaction. Returns the reversal. */
  reverse({ id }: Transaction): Promise<Transaction> {
    return this.#run(reverse(this.organizationId, id, { description: "typed twice" }));
  }

  /** Does any other command. */
  do<C extends Command>(make: (organizationId: OrganizationId) => C): Promise<ResourceOf<C>> {
    return this.#run(make(this.organizationId));
  }

  async cancel({ id }: Transaction, reason: string): Promise<void> {
    await this.#run({ ...cancel(this.organizationId, id), reason: reason as StatusReason });
  }

  #movement(
    name: MoveMoney["name"],
    given: Pick<Parameters<typeof mint>[0], "accountId" | "amount"> & { rail: MoveMoney["rail"]; key?: string },
  ): MoveMoney {
    this.#references += 1;
    const { organizationId } = this;
    const reference = `reference-${String(this.#references)}`;
    const movement = { organizationId, reference, description: "school fees", metadata: { till: "4" }, ...given };
    return name === "mint" ? mint(movement) : redeem(movement);
  }

  #byCaller<C extends Command>(command: C): C {
    const given = asOperator(command);
    return given.actor === TEST_ACTOR ? { ...given, actor: this.#actor } : given;
  }

  async #run<C extends Command>(command: C): Promise<ResourceOf<C>> {
    const [result] = await this.#cell.committer.commit([this.#byCaller(command)], this.#now());
    if (result?.kind !== "done") throw new Error(`${command.name} was not done: ${JSON.stringify(result)}`);
    return result.resource as ResourceOf<C>;
  }
}

/** The same rows in the same order each time: the tests name them by their seq. */
export async function makeTraffic(books: GivenBooks): Promise<void> {
  const email = "amina@example.com" as EmailAddress;
  const amina = await books.createAccount("amina", { email, key: "open-amina" }); // 3
  const brian = await books.createAccount("brian"); // 4
  const carol = await books.createAccount("carol"); // 5
  await books.move("mint", amina, "1000.00", { key: "first-mint" }); // 6
  await books.move("mint", brian, "500.00"); // 7
  await books.move("redeem", amina, "300.00"); // 8
  const hold = await books.move("redeem", amina, "200.00", { rail: SLOW_RAIL }); // 9
  await books.move("redeem", brian, "100.00", { rail: SLOW_RAIL }); // 10: stays on hold
  const coming = await books.move("mint", carol, "50.00", { rail: SLOW_RAIL }); // 11
  const lost = await books.freeze(amina, "CUSTOMER_REQUEST", "lost phone"); // 12
  await books.cancel(hold, "no answer"); // 13
  await books.unfreeze(lost, "found again"); // 14
  await books.cancel(coming, "not paid"); // 15
  await books.close(carol, "moved away"); // 16
  await books.erase(carol, "her wish"); // 17
  await books.move("mint", amina, "0.01"); // 18
  await books.move("mint", brian, "0.02"); // 19
  await books.move("mint", amina, "5.00"); // 20
  await books.move("mint", brian, "9.00", { rail: SLOW_RAIL }); // 21: stays pending
  await books.update(amina); // 22
  await books.createApiKey("till", toUnixMillis(9_000_000_000_000)); // 23
  const old = await books.createApiKey("old"); // 24
  await books.revokeApiKey(old); // 25
  await books.changeSuspension(true, "no answer to the audit"); // 26
  await books.changeSuspension(false, "answered"); // 27
  const dora = await books.createAccount("dora"); // 28
  await books.freeze(dora, "COURT_ORDER", "order 12"); // 29: stands
  const doubted = await books.freeze(dora, "FRAUD", "doubted"); // 30
  await books.unfreeze(doubted, "cleared"); // 31
}

/**
 * Two accounts, and two destinations of the first, with the seqs 5 and 6. Row 7 removes the second.
 */
export async function makeDestinations(books: GivenBooks): Promise<void> {
  const { id } = await books.createAccount("amina");
  await books.createAccount("brian");
  await books.do((organizationId) => createDestination(organizationId, id));
  const number = "5432322" as DestinationNumber;
  const { id: removed } = await books.do((organizationId) => createDestination(organizationId, id, { number }));
  await books.do((organizationId) => removeDestination(organizationId, id, removed));
}

/** The rows of `makeTraffic` about the organization itself: two keys, one revoked; a suspension. */
export const OWN_ROWS = { live: 23, old: 24, revoked: 25, suspended: 26, resumed: 27 } as const;

/** The number of journal rows that `makeTraffic` makes, with the first two rows of the book. */
export const TRAFFIC_ROWS = 31;
