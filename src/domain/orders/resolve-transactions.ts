import type { Authorized, NewIds } from "../authority.js";
import { BookAfter } from "../book-after.js";
import { changes } from "../change.js";
import { NOTHING_TOUCHES } from "../deciding-rows.js";
import { type Book, type Decision, type Lookup, type Operation, replay } from "../decision.js";
import type { JournalEntry } from "../journal.js";
import { needReceipt } from "../movement.js";
import type { RailReceipt } from "../payment.js";
import { isReceiptOf } from "../receipt.js";
import type { Refusal } from "../refusal.js";
import { withSecondPerson } from "../second-person.js";
import { BANK_RAIL, type Transaction } from "../transaction.js";
import { amountText, type Cents } from "../values/cents.js";
import type { TransactionId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { mayHaveMoved } from "./flag.js";
import { decideResolution } from "./resolve-transaction.js";

/** What a statement says of an order whose result was lost. */
export interface LostResult {
  readonly transactionId: TransactionId;
  readonly receipt: RailReceipt;
  readonly amountCents: Cents;
}

/** Completes orders whose results were lost: on the word of an operator. */
export interface ResolveTransactions extends Authorized {
  readonly name: "resolveTransactions";
  /** At most `PARTS_MAX`, and each transaction and receipt once. */
  readonly results: readonly LostResult[];
  readonly note: StatusReason;
  readonly facts: Pick<NewIds, "newTransactionId">;
}

/** What the act has made of its results, in their order. */
export interface ResolvedTransactions {
  readonly resolved: readonly ResolvedResult[];
}

export interface ResolvedResult {
  readonly result: LostResult;
  /** As it is now. Undefined if the organization has no such transaction. */
  readonly transaction: Transaction | undefined;
  /** Why the act leaves it as it is. Undefined for a transaction that it completes. */
  readonly left: LeftBecause | undefined;
}

/**
 * Why the act leaves a transaction as it is: an own rule, or the refusal of its resolution.
 *
 * - ALREADY_SO: it is completed, with this receipt.
 * - AMOUNT_DIFFERS: the statement has another amount than the order.
 * - FLAGGED: the rail has said something that the book did not take.
 */
export type LeftBecause = "ALREADY_SO" | "AMOUNT_DIFFERS" | "FLAGGED" | Refusal["reason"];

const operation: Operation<ResolveTransactions, ResolvedTransactions> = {
  lookup,
  decide,
  inSuspension: "of operators",
};

export const resolveTransactions = withSecondPerson(operation, {
  namesPersons: true,
  maxCents: ({ organizationId, results }, book) => {
    const accounts = book.railAccounts(organizationId);
    const maxima = results.flatMap(({ transactionId }) => {
      const railAccountId = book.payment(organizationId, transactionId)?.railAccountId;
      return railAccountId === undefined
        ? []
        : [accounts.find(({ id }) => id === railAccountId)?.resolveAloneMaxCents ?? 0];
    });
    return Math.min(...maxima);
  },
  partCents: ({ kind, posting }: JournalEntry) => (kind === "transaction.completed" ? posting?.amountCents : undefined),
  // No later row touches it: the act leaves an order as it is that has ended meanwhile.
  changesOf: ({ results }) =>
    changes(
      ["orders", "processing", `${String(results.length)} completed, together ${amountText(sumOf(results))}`],
      ...results.map(({ transactionId, receipt, amountCents }) => {
        return [transactionId, "", `${amountText(amountCents)}, receipt ${receipt}`] as const;
      }),
    ),
  touchedBy: NOTHING_TOUCHES,
});

function lookup({ organizationId, results }: ResolveTransactions, rows: Lookup): void {
  for (const { transactionId, receipt } of results) {
    rows.need("order", transactionId);
    needReceipt(rows, organizationId, receipt);
    if (isReceiptOf(BANK_RAIL, receipt)) rows.need("reservePlaces", organizationId);
  }
}

/**
 * Completes open orders with the receipts of a statement, in one commit. An order that cannot be
 * completed so is left as it is, and a person decides about it alone: one with another amount, with
 * a flag that says more than that its outcome is unknown, or whose resolution would be refused. If
 * none is completed it is a replay.
 */
function decide(book: Book, command: ResolveTransactions, now: UnixMillis): Decision<ResolvedTransactions> {
  const { organizationId } = command;
  const after = new BookAfter(book);
  const resolved = command.results.map((result): ResolvedResult => {
    const transaction = after.transaction(organizationId, result.transactionId);
    const left = leftBecause(after, { command, result, transaction, now });
    return { result, transaction: after.transaction(organizationId, result.transactionId), left };
  });
  if (resolved.every(({ left }) => left !== undefined)) return replay({ resolved });
  return { kind: "effect", resource: { resolved }, effect: after.effect() };
}

interface ResolvedPart {
  readonly command: ResolveTransactions;
  readonly result: LostResult;
  readonly transaction: Transaction | undefined;
  readonly now: UnixMillis;
}

/** Completes one order in the book, or returns why it stays as it is. */
function leftBecause(book: BookAfter, { command, result, transaction, now }: ResolvedPart): LeftBecause | undefined {
  const { organizationId, actor, authority, note, facts } = command;
  const { transactionId, receipt, amountCents } = result;
  if (transaction?.status === "PROCESSING" && transaction.amountCents !== amountCents) return "AMOUNT_DIFFERS";
  if (transaction?.status === "PROCESSING" && mayHaveMoved(transaction)) return "FLAGGED";
  const decision = decideResolution(
    book,
    {
      name: "resolveTransaction",
      organizationId,
      actor,
      authority,
      transactionId,
      resolution: { kind: "COMPLETED", receipt },
      facts: { newTransactionId: facts.newTransactionId, note },
    },
    now,
  );
  if (decision.kind === "refusal") return decision.refusal.reason;
  if (decision.kind === "replay") return "ALREADY_SO";
  book.take(decision.effect);
  return undefined;
}

function sumOf(results: readonly LostResult[]): number {
  return results.reduce((sum, { amountCents }) => sum + amountCents, 0);
}
