import type { Account } from "../../../src/domain/account.js";
import type { BookHead, BookState, BookSums } from "../../../src/domain/book.js";
import type {
  CancelTransaction,
  ChangeAccountStatus,
  Command,
  CreateAccount,
  EraseAccount,
  MoveMoney,
  ReverseTransaction,
  UpdateAccount,
} from "../../../src/domain/commands.js";
import { OPERATOR } from "../../../src/domain/journal.js";
import type { Refusal } from "../../../src/domain/refusal.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import type { Cents } from "../../../src/domain/values/cents.js";
import type { AccountId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import type { UnixMillis } from "../../../src/domain/values/time.js";
import type { LedgerRefusal } from "../../../src/ledger/ports/outcome.js";

// The contract (docs/api.md) in the plainest code: maps, one command at a time, no storage. It
// shares names with src/, and no decision.

/** The part of a resource that a caller sees, without its times. */
type Seen = SeenAccount | SeenTransaction;
type SeenAccount = Pick<Account, "id" | "person" | "status" | "availableCents" | "heldCents">;
type SeenTransaction = Pick<
  Transaction,
  | "id"
  | "accountId"
  | "type"
  | "status"
  | "amountCents"
  | "reference"
  | "description"
  | "rail"
  | "corrects"
  | "reversedById"
  | "availableAfterCents"
>;

export type Answer =
  | { readonly kind: "done"; readonly replayed: boolean; readonly resource: Seen }
  | { readonly kind: "refused"; readonly refusal: Refusal | LedgerRefusal };

/**
 * Every answer of the model, in a word: the reason of a refusal, "done" or "replayed". Runs that
 * meet no frozen account prove nothing about one, so all runs together must meet all of these.
 */
export const ANSWER_WORDS: readonly string[] = [
  "ACCOUNT_ALREADY_EXISTS",
  "ACCOUNT_CLOSED",
  "ACCOUNT_ERASED",
  "ACCOUNT_FROZEN",
  "ACCOUNT_NOT_EMPTY",
  "ACCOUNT_NOT_FOUND",
  "BOOK_MOVING",
  "CLOCK_BEHIND",
  "IDEMPOTENCY_KEY_REUSED",
  "INSUFFICIENT_FUNDS",
  "INVALID_TRANSITION",
  "LIMIT_EXCEEDED",
  "ORGANIZATION_SUSPENDED",
  "PHONE_NUMBER_MISSING",
  "REFERENCE_ALREADY_USED",
  "TRANSACTION_ALREADY_REVERSED",
  "TRANSACTION_NOT_FOUND",
  "TRANSACTION_NOT_REVERSIBLE",
  "done",
  "replayed",
];

/** All that an organization has: its accounts and transactions, newest first, and its book. */
export interface State {
  readonly accounts: readonly Seen[];
  readonly transactions: readonly Seen[];
  readonly book: Omit<BookHead, "organizationId"> | undefined;
}

export const NO_SUMS: BookSums = { reserve: 0, shortfall: 0, available: 0, held: 0, unallocated: 0 };

type Writable<Row> = { -readonly [Name in keyof Row]: Row[Name] };
type ModelAccount = Writable<SeenAccount> & Pick<Account, "organizationId">;
type ModelTransaction = Writable<SeenTransaction> & Pick<Transaction, "organizationId">;

/**
 * A resource that was made, and the content with which a repeat is compared, by the contract's
 * names of fields.
 */
interface Made {
  readonly resource: ModelAccount | ModelTransaction;
  readonly content: Content;
}
type Content = Readonly<Record<string, string>>;

type ModelBook = Writable<Omit<BookHead, "organizationId">>;

const CENTS_MAX = 999_999_999_999_999;
const SUM_CENTS_MAX = 9_007_199_254_740_991;
const BEHIND_MILLIS_MAX = 60_000;

export class Model {
  readonly accounts = new Map<AccountId, ModelAccount>();
  readonly transactions = new Map<TransactionId, ModelTransaction>();
  // The keys are user_id, reference and idempotency key, each within its organization.
  readonly #made = new Map<string, Made>();
  readonly #books = new Map<OrganizationId, ModelBook>();

  /** Opens the organization's book. Its first row, at this time, says that it was created. */
  open(organizationId: OrganizationId, at: UnixMillis, sums: BookSums = NO_SUMS): void {
    this.#books.set(organizationId, { state: "OPEN", isSuspended: false, lastSeq: 1, lastRecordedAt: at, sums });
  }

  /** Does what an operator does who moves a book, or restores it. */
  setState(organizationId: OrganizationId, state: BookState): void {
    this.#bookOf(organizationId).state = state;
  }

  /** Does what an operator does who suspends an organization, or resumes it. */
  setSuspended(organizationId: OrganizationId, isSuspended: boolean): void {
    this.#bookOf(organizationId).isSuspended = isSuspended;
  }

  /** `clock` is that of the server. */
  submit(command: Command, clock: UnixMillis): Answer {
    const book = this.#bookOf(command.organizationId);
    if (book.state === "MOVING" || book.state === "MOVED") return refused({ reason: "BOOK_MOVING" });
    if (book.isSuspended && command.actor !== OPERATOR) return refused({ reason: "ORGANIZATION_SUSPENDED" });
    const behindMillis = book.lastRecordedAt - clock;
    if (behindMillis > BEHIND_MILLIS_MAX) return refused({ reason: "CLOCK_BEHIND", behindMillis });

    const answer = this.#answerTo(command);
    // Each command with an effect is one row of the book.
    if (answer.kind === "done" && !answer.replayed) {
      book.lastSeq += 1;
      if (clock > book.lastRecordedAt) book.lastRecordedAt = clock;
    }
    return answer;
  }

  state(organizationId: OrganizationId): State {
    const own = <Row extends ModelAccount | ModelTransaction>(rows: ReadonlyMap<unknown, Row>): Row[] =>
      [...rows.values()].filter((row) => row.organizationId === organizationId).reverse();
    return {
      accounts: own(this.accounts).map(seen),
      transactions: own(this.transactions).map(seen),
      book: { ...this.#bookOf(organizationId) },
    };
  }

  #bookOf(organizationId: OrganizationId): ModelBook {
    const book = this.#books.get(organizationId);
    if (book === undefined) throw new Error(`the model has no book of ${organizationId}`);
    return book;
  }

  #answerTo(command: Command): Answer {
    switch (command.name) {
      case "createAccount":
        return this.#createAccount(command);
      case "mint":
      case "redeem":
        return this.#moveMoney(command);
      case "reverseTransaction":
        return this.#reverseTransaction(command);
      case "cancelTransaction":
        return this.#cancelTransaction(command);
      case "freezeAccount":
      case "unfreezeAccount":
      case "closeAccount":
        return this.#changeAccountStatus(command);
      case "updateAccount":
        return this.#updateAccount(command);
      case "eraseAccount":
        return this.#eraseAccount(command);
    }
  }

  #createAccount(command: CreateAccount): Answer {
    const { newAccountId: id, organizationId, userId, phoneNumber, email } = command;
    const content = { user_id: userId, phone_number: phoneNumber, email };
    return this.#once(command, `user ${userId}`, content, () => {
      const balances = { availableCents: cents(0), heldCents: cents(0) };
      const person = { userId, phoneNumber, email };
      const account: ModelAccount = { id, organizationId, person, status: "ACTIVE", ...balances };
      this.accounts.set(id, account);
      return account;
    });
  }

  #moveMoney(command: MoveMoney): Answer {
    const { newTransactionId: id, organizationId, accountId, amountCents, reference, description, rail } = command;
    const type = command.name === "mint" ? "MINT" : "REDEEM";
    const content = { type, account_id: accountId, amount: String(amountCents), description };
    return this.#once(command, `reference ${reference}`, content, () => {
      const account = this.accounts.get(accountId);
      if (account?.organizationId !== organizationId) return { reason: "ACCOUNT_NOT_FOUND", accountId };
      const named = { id, organizationId, accountId, reference, description };
      return this.#move(account, { ...named, type, amountCents, rail, corrects: undefined });
    });
  }

  #reverseTransaction(command: ReverseTransaction): Answer {
    const { newTransactionId: id, organizationId, transactionId, description } = command;
    const reference = `kesc:reverse:${transactionId}` as Transaction["reference"];
    return this.#once(command, `reference ${reference}`, { corrects: transactionId, description }, () => {
      const original = this.transactions.get(transactionId);
      if (original?.organizationId !== organizationId) return { reason: "TRANSACTION_NOT_FOUND", transactionId };
      const { accountId, amountCents, rail } = original;
      const notReversible = { reason: "TRANSACTION_NOT_REVERSIBLE", transactionId } as const;
      if (original.corrects !== undefined) return { ...notReversible, cause: "IS_REVERSAL" };
      if (rail !== "direct") return { ...notReversible, cause: "OTHER_RAIL" };
      const account = this.accounts.get(accountId);
      if (account === undefined) throw new Error(`the model has no account ${accountId}`);
      const type = original.type === "MINT" ? "REDEEM" : "MINT";
      const named = { id, organizationId, accountId, reference, description };
      const corrects = { kind: "REVERSAL", transactionId } as const;
      const reversal = this.#move(account, { ...named, type, amountCents, rail, corrects });
      if (!("reason" in reversal)) original.reversedById = id;
      return reversal;
    });
  }

  /** Moves the money of a new transaction, now or on hold. */
  #move(
    account: ModelAccount,
    given: Omit<ModelTransaction, "status" | "reversedById" | "availableAfterCents">,
  ): ModelTransaction | Refusal {
    const { organizationId, accountId, type, amountCents, rail } = given;
    if (account.status === "CLOSED") return { reason: "ACCOUNT_CLOSED", accountId };
    if (account.status === "FROZEN") return { reason: "ACCOUNT_FROZEN", accountId };

    const completed = rail === "direct";
    const moved: number = amountCents;
    if (!completed && account.person === undefined) return { reason: "PHONE_NUMBER_MISSING", accountId };
    const { availableCents, heldCents } = account;
    const { sums } = this.#bookOf(organizationId);
    if (type === "MINT" && availableCents + heldCents + amountCents > CENTS_MAX) {
      return { reason: "LIMIT_EXCEEDED", accountId, limitCents: CENTS_MAX };
    }
    if (type === "MINT" && amountCents > SUM_CENTS_MAX - Math.max(sums.reserve, sums.available)) {
      return { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: SUM_CENTS_MAX };
    }
    if (type === "REDEEM" && availableCents < amountCents) {
      return { reason: "INSUFFICIENT_FUNDS", availableCents, requestedCents: amountCents };
    }

    if (type === "MINT" && completed) this.#post(account, { reserve: moved, available: moved, held: 0 });
    if (type === "REDEEM" && completed) this.#post(account, { reserve: -moved, available: -moved, held: 0 });
    if (type === "REDEEM" && !completed) this.#post(account, { reserve: 0, available: -moved, held: moved });
    const transaction: ModelTransaction = {
      ...given,
      status: completed ? "COMPLETED" : "PENDING",
      reversedById: undefined,
      availableAfterCents: completed ? account.availableCents : undefined,
    };
    this.transactions.set(given.id, transaction);
    return transaction;
  }

  #cancelTransaction({ organizationId, transactionId }: CancelTransaction): Answer {
    const transaction = this.transactions.get(transactionId);
    if (transaction?.organizationId !== organizationId) {
      return refused({ reason: "TRANSACTION_NOT_FOUND", transactionId });
    }
    const { status: from, type, accountId, amountCents } = transaction;
    if (from === "CANCELED") return done(transaction, { replayed: true });
    if (from !== "PENDING") return refused({ reason: "INVALID_TRANSITION", from, to: "CANCELED" });

    const account = this.accounts.get(accountId);
    if (account !== undefined && type === "REDEEM") {
      const moved: number = amountCents;
      this.#post(account, { reserve: 0, available: moved, held: -moved });
    }
    transaction.status = "CANCELED";
    return done(transaction, { replayed: false });
  }

  #changeAccountStatus({ name, organizationId, accountId }: ChangeAccountStatus): Answer {
    const account = this.accounts.get(accountId);
    if (account?.organizationId !== organizationId) return refused({ reason: "ACCOUNT_NOT_FOUND", accountId });
    const { status: from, availableCents, heldCents } = account;
    const to = ({ freezeAccount: "FROZEN", unfreezeAccount: "ACTIVE", closeAccount: "CLOSED" } as const)[name];
    if (from === to) return done(account, { replayed: true });
    if (from === "CLOSED") return refused({ reason: "ACCOUNT_CLOSED", accountId });
    if (from === "FROZEN" && to === "CLOSED") return refused({ reason: "INVALID_TRANSITION", from, to });
    if (to === "CLOSED" && availableCents + heldCents > 0) {
      return refused({ reason: "ACCOUNT_NOT_EMPTY", accountId, availableCents, heldCents });
    }
    account.status = to;
    if (to === "CLOSED") this.#freeUser(account);
    return done(account, { replayed: false });
  }

  #updateAccount({ organizationId, accountId, phoneNumber, email }: UpdateAccount): Answer {
    const account = this.accounts.get(accountId);
    if (account?.organizationId !== organizationId) return refused({ reason: "ACCOUNT_NOT_FOUND", accountId });
    const { person, status } = account;
    if (person === undefined) return refused({ reason: "ACCOUNT_ERASED", accountId });
    if (status === "CLOSED") return refused({ reason: "ACCOUNT_CLOSED", accountId });
    const changed = { ...person, phoneNumber: phoneNumber ?? person.phoneNumber, email: email ?? person.email };
    const forgotten: Record<string, string> = {
      ...(changed.phoneNumber === person.phoneNumber ? {} : { phone_number: ANY }),
      ...(changed.email === person.email ? {} : { email: ANY }),
    };
    if (Object.keys(forgotten).length === 0) return done(account, { replayed: true });
    account.person = changed;
    for (const [name, { resource, content }] of this.#made) {
      if (resource === account) this.#made.set(name, { resource, content: { ...content, ...forgotten } });
    }
    return done(account, { replayed: false });
  }

  /** The next account of the user is a new one. */
  #freeUser(account: ModelAccount): void {
    const name = `${account.organizationId} user ${account.person?.userId ?? ""}`;
    if (this.#made.get(name)?.resource === account) this.#made.delete(name);
  }

  #eraseAccount({ organizationId, accountId }: EraseAccount): Answer {
    const account = this.accounts.get(accountId);
    if (account?.organizationId !== organizationId) return refused({ reason: "ACCOUNT_NOT_FOUND", accountId });
    const { person, availableCents, heldCents } = account;
    if (person === undefined) return done(account, { replayed: true });
    if (availableCents + heldCents > 0) {
      return refused({ reason: "ACCOUNT_NOT_EMPTY", accountId, availableCents, heldCents });
    }
    // The user_id is free again. A key that made the account names it for ever, and now no content
    // equals that of its first call.
    this.#freeUser(account);
    account.person = undefined;
    for (const [name, { resource }] of this.#made) {
      if (resource === account) this.#made.set(name, { resource, content: {} });
    }
    return done(account, { replayed: false });
  }

  /** Changes the balances of an account, and the sums of its book, by these amounts. */
  #post(account: ModelAccount, by: Pick<BookSums, "reserve" | "available" | "held">): void {
    account.availableCents = cents(account.availableCents + by.available);
    account.heldCents = cents(account.heldCents + by.held);
    const book = this.#bookOf(account.organizationId);
    const { reserve, available, held } = book.sums;
    book.sums = {
      ...book.sums,
      reserve: reserve + by.reserve,
      available: available + by.available,
      held: held + by.held,
    };
  }

  /**
   * Looks for an earlier command by its idempotency key first, then by its natural key; makes only
   * what is new.
   */
  #once(
    { organizationId, idempotencyKey }: CreateAccount | MoveMoney | ReverseTransaction,
    naturalKey: string,
    content: Content,
    make: () => Made["resource"] | Refusal,
  ): Answer {
    const key = idempotencyKey === undefined ? undefined : `${organizationId} key ${idempotencyKey}`;
    const keyed = key === undefined ? undefined : this.#made.get(key);
    if (keyed !== undefined) {
      return differing(content, keyed.content).length === 0
        ? done(keyed.resource, { replayed: true })
        : refused({ reason: "IDEMPOTENCY_KEY_REUSED" });
    }
    const named = this.#made.get(`${organizationId} ${naturalKey}`);
    if (named !== undefined) {
      const differingFields = differing(content, named.content);
      if (differingFields.length > 0) return refused(takenBy(named.resource, differingFields));
      if (key !== undefined) this.#made.set(key, named);
      return done(named.resource, { replayed: true });
    }

    const resource = make();
    if ("reason" in resource) return refused(resource);
    for (const name of [key, `${organizationId} ${naturalKey}`]) {
      if (name !== undefined) this.#made.set(name, { resource, content });
    }
    return done(resource, { replayed: false });
  }
}

/**
 * The part of a resource on which the model and the service must agree, as it is at this moment.
 */
export function seen(resource: SeenAccount | SeenTransaction): Seen {
  if ("person" in resource) {
    const { id, person, status, availableCents, heldCents } = resource;
    return { id, person, status, availableCents, heldCents };
  }
  const { id, accountId, type, status, amountCents, reference, description, rail } = resource;
  const { corrects, reversedById, availableAfterCents } = resource;
  const links = { corrects, reversedById, availableAfterCents };
  return { id, accountId, type, status, amountCents, reference, description, rail, ...links };
}

function done(resource: Made["resource"], { replayed }: { replayed: boolean }): Answer {
  return { kind: "done", replayed, resource: seen(resource) };
}

function refused(refusal: Refusal): Answer {
  return { kind: "refused", refusal };
}

function takenBy(resource: Made["resource"], differingFields: readonly string[]): Refusal {
  if ("person" in resource) return { reason: "ACCOUNT_ALREADY_EXISTS", accountId: resource.id, differingFields };
  const { id, corrects } = resource;
  if (corrects === undefined) return { reason: "REFERENCE_ALREADY_USED", transactionId: id, differingFields };
  const { transactionId } = corrects;
  return { reason: "TRANSACTION_ALREADY_REVERSED", transactionId, reversedById: id, differingFields };
}

/** The content of a field that was changed since: a repeat may have any. */
const ANY = "any";

function differing(content: Content, earlier: Content): string[] {
  return Object.keys({ ...content, ...earlier }).filter(
    (field) => earlier[field] !== ANY && content[field] !== earlier[field],
  );
}

function cents(count: number): Cents {
  return count as Cents;
}
