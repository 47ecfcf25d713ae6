import type { Account } from "../../../src/domain/account.js";
import type {
  CancelTransaction,
  ChangeAccountStatus,
  Command,
  CreateAccount,
  MoveMoney,
} from "../../../src/domain/commands.js";
import type { Refusal } from "../../../src/domain/refusal.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import type { Cents } from "../../../src/domain/values/cents.js";
import type { AccountId, TransactionId } from "../../../src/domain/values/ids.js";
import type { LedgerRefusal } from "../../../src/ledger/ports/outcome.js";

// The contract (docs/api.md) in the plainest code: maps, one command at a time, no storage. It
// shares names with src/, and no decision.

/** The part of a resource that a caller sees, without its times. */
type Seen = SeenAccount | SeenTransaction;
type SeenAccount = Pick<Account, "id" | "userId" | "phoneNumber" | "email" | "status" | "availableCents" | "heldCents">;
type SeenTransaction = Pick<
  Transaction,
  "id" | "accountId" | "type" | "status" | "amountCents" | "reference" | "description" | "rail"
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
  "ACCOUNT_FROZEN",
  "ACCOUNT_NOT_EMPTY",
  "ACCOUNT_NOT_FOUND",
  "IDEMPOTENCY_KEY_REUSED",
  "INSUFFICIENT_FUNDS",
  "INVALID_TRANSITION",
  "LIMIT_EXCEEDED",
  "REFERENCE_ALREADY_USED",
  "TRANSACTION_NOT_FOUND",
  "done",
  "replayed",
];

/** In cents: the shillings that an organization holds, and the KESC that it owes. */
export interface Supply {
  readonly reserve: number;
  readonly available: number;
  readonly held: number;
}

/** All that an organization sees, newest first. */
export interface State {
  readonly accounts: readonly Seen[];
  readonly transactions: readonly Seen[];
  readonly supply: Supply | undefined;
}

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

const CENTS_MAX = 999_999_999_999_999;

export class Model {
  readonly accounts = new Map<AccountId, ModelAccount>();
  readonly transactions = new Map<TransactionId, ModelTransaction>();
  // The keys are user_id, reference and idempotency key, each within its organization.
  readonly #made = new Map<string, Made>();
  readonly #reserves = new Map<string, number>();
  readonly #effects = new Map<string, number>();

  submit(command: Command): Answer {
    const answer = this.#answerTo(command);
    if (answer.kind === "done" && !answer.replayed) add(this.#effects, command.organizationId, 1);
    return answer;
  }

  /**
   * The number of commands with an effect, which is the number of rows in the organization's
   * journal.
   */
  effects(organizationId: string): number {
    return this.#effects.get(organizationId) ?? 0;
  }

  state(organizationId: string): State {
    const own = <Row extends ModelAccount | ModelTransaction>(rows: ReadonlyMap<unknown, Row>): Row[] =>
      [...rows.values()].filter((row) => row.organizationId === organizationId).reverse();
    const accounts = own(this.accounts);
    return {
      accounts: accounts.map(seen),
      transactions: own(this.transactions).map(seen),
      supply: {
        reserve: this.#reserves.get(organizationId) ?? 0,
        available: accounts.reduce((sum, { availableCents }) => sum + availableCents, 0),
        held: accounts.reduce((sum, { heldCents }) => sum + heldCents, 0),
      },
    };
  }

  #answerTo(command: Command): Answer {
    switch (command.name) {
      case "createAccount":
        return this.#createAccount(command);
      case "mint":
      case "redeem":
        return this.#moveMoney(command);
      case "cancelTransaction":
        return this.#cancelTransaction(command);
      case "freezeAccount":
      case "unfreezeAccount":
      case "closeAccount":
        return this.#changeAccountStatus(command);
    }
  }

  #createAccount(command: CreateAccount): Answer {
    const { newAccountId: id, organizationId, userId, phoneNumber, email } = command;
    const content = { user_id: userId, phone_number: phoneNumber, email };
    return this.#once(command, `user ${userId}`, content, () => {
      const balances = { availableCents: cents(0), heldCents: cents(0) };
      const account: ModelAccount = { id, organizationId, userId, phoneNumber, email, status: "ACTIVE", ...balances };
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
      if (account.status === "CLOSED") return { reason: "ACCOUNT_CLOSED", accountId };
      if (account.status === "FROZEN") return { reason: "ACCOUNT_FROZEN", accountId };

      const { availableCents, heldCents } = account;
      if (type === "MINT" && availableCents + heldCents + amountCents > CENTS_MAX) {
        return { reason: "LIMIT_EXCEEDED", accountId, limitCents: cents(CENTS_MAX) };
      }
      if (type === "REDEEM" && availableCents < amountCents) {
        return { reason: "INSUFFICIENT_FUNDS", availableCents, requestedCents: amountCents };
      }

      const completed = rail === "direct";
      const sign = type === "MINT" ? 1 : -1;
      if (completed) add(this.#reserves, organizationId, sign * amountCents);
      if (completed || type === "REDEEM") account.availableCents = cents(availableCents + sign * amountCents);
      if (!completed && type === "REDEEM") account.heldCents = cents(heldCents + amountCents);
      const status = completed ? "COMPLETED" : "PENDING";
      const named = { id, organizationId, accountId, reference, description };
      const transaction: ModelTransaction = { ...named, type, status, amountCents, rail };
      this.transactions.set(id, transaction);
      return transaction;
    });
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
      account.availableCents = cents(account.availableCents + amountCents);
      account.heldCents = cents(account.heldCents - amountCents);
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
    return done(account, { replayed: false });
  }

  /**
   * Looks for an earlier command by its idempotency key first, then by its natural key; makes only
   * what is new.
   */
  #once(
    { organizationId, idempotencyKey }: CreateAccount | MoveMoney,
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
  if ("userId" in resource) {
    const { id, userId, phoneNumber, email, status, availableCents, heldCents } = resource;
    return { id, userId, phoneNumber, email, status, availableCents, heldCents };
  }
  const { id, accountId, type, status, amountCents, reference, description, rail } = resource;
  return { id, accountId, type, status, amountCents, reference, description, rail };
}

function done(resource: Made["resource"], { replayed }: { replayed: boolean }): Answer {
  return { kind: "done", replayed, resource: seen(resource) };
}

function refused(refusal: Refusal): Answer {
  return { kind: "refused", refusal };
}

function takenBy(resource: Made["resource"], differingFields: readonly string[]): Refusal {
  return "userId" in resource
    ? { reason: "ACCOUNT_ALREADY_EXISTS", accountId: resource.id, differingFields }
    : { reason: "REFERENCE_ALREADY_USED", transactionId: resource.id, differingFields };
}

function differing(content: Content, earlier: Content): string[] {
  return Object.keys({ ...content, ...earlier }).filter((field) => content[field] !== earlier[field]);
}

function add(sums: Map<string, number>, name: string, amount: number): void {
  sums.set(name, (sums.get(name) ?? 0) + amount);
}

function cents(count: number): Cents {
  return count as Cents;
}
