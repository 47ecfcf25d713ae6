import type { Acted, Authorized, Commanded, NewIds } from "../authority.js";
import { changes } from "../change.js";
import { NOTHING_TOUCHES } from "../deciding-rows.js";
import { type Book, type Decision, type Lookup, type Operation, refuse } from "../decision.js";
import { moved, needReceipt, refusalByAmount, refusalByNumber, refusalByStatus, takenBack } from "../movement.js";
import type { RailReceipt } from "../payment.js";
import { correctAloneMaxCents } from "../rail-account.js";
import type { Refusal } from "../refusal.js";
import { type Comparison, decideRepeat } from "../repeat.js";
import { withSecondPerson } from "../second-person.js";
import { DIRECT_RAIL, reversalReference, type Transaction } from "../transaction.js";
import { amountText } from "../values/cents.js";
import type { TransactionId } from "../values/ids.js";
import {
  type Description,
  type IdempotencyKey,
  type Metadata,
  sameMetadata,
  type StatusReason,
} from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Undoes a completed transaction by a new one of the opposite type. */
export interface ReverseTransaction extends Commanded {
  readonly name: "reverseTransaction";
  /** The transaction to undo. */
  readonly transactionId: TransactionId;
  readonly newTransactionId: TransactionId;
  readonly description: Description;
  readonly metadata: Metadata;
  /** What proves that the shillings have moved back. */
  readonly receipt?: RailReceipt | undefined;
  readonly idempotencyKey: IdempotencyKey | undefined;
}

/** Undoes a transaction on the word of an operator, which may need a second person. */
export interface ReverseByOperator extends Authorized {
  readonly name: "reverseTransaction";
  readonly transactionId: TransactionId;
  readonly receipt: RailReceipt | undefined;
  /** The description of the new transaction. */
  readonly note: StatusReason;
  /** An approval repeats nothing, so it has no key. */
  readonly facts: Pick<NewIds, "newTransactionId"> & Partial<Pick<ReverseTransaction, "idempotencyKey">>;
}

const NO_METADATA = new Map<string, string>() as ReadonlyMap<string, string> as Metadata;

/**
 * Above the lowest amount that the accounts at rails let one person decide, as for corrections: no
 * rail has an account for the direct one.
 */
const byOperator = withSecondPerson<ReverseByOperator, Transaction>(
  {
    lookup: (command, rows) => {
      lookup(plain(command), rows);
    },
    decide: (book, command, now) => decide(book, plain(command), now),
  },
  {
    judged: (command, book) => ({
      amountCents: originalOf(command, book).amountCents,
      maxCents: correctAloneMaxCents(book.railAccounts(command.organizationId)),
    }),
    changesOf: (command, book) => {
      const { type, amountCents } = originalOf(command, book);
      const [original, reversal] = type === "MINT" ? ["mint", "redemption"] : ["redemption", "mint"];
      const completed = `${original} of ${amountText(amountCents)}, completed`;
      return changes(
        ["transaction", completed, `reversed by a ${reversal} of the same amount`],
        ["receipt", undefined, command.receipt],
      );
    },
    // A transaction is reversed once.
    touchedBy: NOTHING_TOUCHES,
  },
);

/** The operation has refused a transaction that is not there. */
function originalOf({ organizationId, transactionId }: ReverseByOperator, book: Book): Transaction {
  return book.transaction(organizationId, transactionId) as Transaction;
}

/** An API key needs nobody else. */
export const reverseTransaction: Operation<ReverseTransaction | ReverseByOperator, Transaction | Acted<Transaction>> = {
  lookup: (command, rows) => {
    if ("authority" in command) byOperator.lookup(command, rows);
    else lookup(command, rows);
  },
  decide: (book, command, now, clock) =>
    "authority" in command ? byOperator.decide(book, command, now, clock) : decide(book, command, now),
  inSuspension: "of operators",
};

function plain({ organizationId, actor, transactionId, receipt, note, facts }: ReverseByOperator): ReverseTransaction {
  const { newTransactionId, idempotencyKey } = facts;
  const content = {
    description: note as string as Description,
    metadata: NO_METADATA,
    receipt,
    idempotencyKey,
  };
  return { name: "reverseTransaction", organizationId, actor, transactionId, newTransactionId, ...content };
}

function lookup({ organizationId, transactionId, receipt, idempotencyKey }: ReverseTransaction, rows: Lookup): void {
  needReceipt(rows, organizationId, receipt);
  rows.need("transaction", transactionId);
  rows.need("transactionWithReference", { organizationId, name: reversalReference(transactionId) });
  if (idempotencyKey !== undefined) rows.need("idempotencyKey", { organizationId, name: idempotencyKey });
}

/**
 * Undoes a completed transaction of the direct rail, once and in full: a mint by a redemption, a
 * redemption by a mint. The new transaction and the original name each other. The same call again
 * is a replay.
 *
 * Refuses, in this order: IDEMPOTENCY_KEY_REUSED, TRANSACTION_ALREADY_REVERSED,
 * TRANSACTION_NOT_FOUND, TRANSACTION_NOT_REVERSIBLE, ACCOUNT_CLOSED, ACCOUNT_FROZEN,
 * RECEIPT_ALREADY_USED, then INSUFFICIENT_FUNDS (of a mint) or LIMIT_EXCEEDED (of a redemption).
 */
function decide(book: Book, command: ReverseTransaction, now: UnixMillis): Decision<Transaction> {
  const { organizationId, transactionId, newTransactionId, description, metadata, receipt } = command;
  const repeated = decideRepeat(
    COMPARISON,
    { book, command, now },
    {
      withId: (id) => book.transaction(organizationId, id as TransactionId),
      existing: book.transactionWithReference(organizationId, reversalReference(transactionId)),
      refusal: ({ id: reversedById }, differingFields) => ({
        reason: "TRANSACTION_ALREADY_REVERSED",
        transactionId,
        reversedById,
        differingFields,
      }),
    },
  );
  if (repeated !== undefined) return repeated;

  const original = book.transaction(organizationId, transactionId);
  if (original === undefined) return refuse({ reason: "TRANSACTION_NOT_FOUND", transactionId });
  const cause = obstacleTo(original);
  if (cause !== undefined) return refuse({ reason: "TRANSACTION_NOT_REVERSIBLE", transactionId, cause });

  const { accountId, amountCents, rail } = original;
  const account = book.account(organizationId, accountId);
  if (account === undefined) throw new Error(`${transactionId} refers to ${accountId}, which was not loaded`);
  const type = original.type === "MINT" ? "REDEEM" : "MINT";
  const refusal =
    refusalByStatus(account) ??
    refusalByNumber(book, organizationId, receipt) ??
    refusalByAmount(book, account, { type, amountCents });
  if (refusal !== undefined) return refuse(refusal);

  const reversal = moved(
    takenBack(book, account, original, now),
    {
      id: newTransactionId,
      organizationId,
      accountId,
      type,
      amountCents,
      reference: reversalReference(transactionId),
      description,
      metadata,
      rail,
      railReceipt: receipt,
      corrects: { kind: "REVERSAL", transactionId },
      depositId: undefined,
      destinationId: undefined,
    },
    { actor: command.actor, idempotencyKey: command.idempotencyKey, now },
  );
  const reversed: Transaction = { ...original, reversedById: newTransactionId };
  const { effect } = reversal;
  return { ...reversal, effect: { ...effect, puts: [...effect.puts, { table: "transactions", row: reversed }] } };
}

const COMPARISON: Comparison<ReverseTransaction, Transaction> = {
  transactionId: ["transaction_id", ({ transactionId }, { corrects }) => corrects?.transactionId === transactionId],
  description: ["description", ({ description }, existing) => description === existing.description],
  metadata: ["metadata", ({ metadata }, existing) => sameMetadata(metadata, existing.metadata)],
  receipt: ["receipt", ({ receipt }, { railReceipt }) => receipt === undefined || receipt === railReceipt],
};

/**
 * Returns why the transaction cannot be reversed. The reversal of a reversal would do the original
 * again, so a caller makes a new transaction in its place.
 */
function obstacleTo({
  status,
  rail,
  corrects,
  depositId,
}: Transaction): Extract<Refusal, { reason: "TRANSACTION_NOT_REVERSIBLE" }>["cause"] | undefined {
  if (corrects?.kind === "REVERSAL") return "IS_REVERSAL";
  // An operator takes the credit back: the shillings still belong to the deposit.
  if (depositId !== undefined) return "DEPOSIT";
  // Before the rail: a new transaction in place of one that is under way would move both.
  if (status !== "COMPLETED") return "NOT_COMPLETED";
  return rail === DIRECT_RAIL ? undefined : "OTHER_RAIL";
}
