import type { Authorized } from "../authority.js";
import { type ApprovedBankFile, type BankFileRecord, detailOfBankFile } from "../bank-file.js";
import { BookAfter } from "../book-after.js";
import { changes } from "../change.js";
import { NOTHING_TOUCHES } from "../deciding-rows.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { orderOf } from "../orders/order.js";
import { effectOf, postedStep } from "../orders/step.js";
import type { Payment } from "../payment.js";
import type { Refusal } from "../refusal.js";
import { bookEntryOf, withSecondPerson } from "../second-person.js";
import { BANK_RAIL, type Transaction } from "../transaction.js";
import { amountText, type Cents } from "../values/cents.js";
import type { TransactionId } from "../values/ids.js";
import { endOfDay } from "../values/nairobi-day.js";
import type { StatusReason } from "../values/text.js";
import { toUnixMillis, type UnixMillis } from "../values/time.js";

/** Lets a bank pay payments that wait, in one file. The caller has made its bytes. */
export interface CollectBankFile extends Authorized, Omit<BankFileRecord, "count" | "amountCents"> {
  readonly name: "collectBankFile";
  /** The revision of the account at the rail with which the bytes were made. */
  readonly railRevision: number;
  /** At most `PARTS_MAX`, and each transaction once. */
  readonly payments: readonly CollectedPayment[];
  readonly note: StatusReason;
}

export interface CollectedPayment {
  readonly transactionId: TransactionId;
  readonly amountCents: Cents;
}

/** A payment without an outcome after this time is one for a person. */
const OUTCOME_MILLIS = 3 * 86_400_000;

const operation: Operation<CollectBankFile, ApprovedBankFile> = { lookup, decide };

export const collectBankFile = withSecondPerson(operation, {
  groupOf: () => "payouts",
  changesOf: (command) => {
    const { id, sha256, day, count, amountCents } = fileOf(command);
    return changes(
      ["payment file", "", id],
      ["SHA-256 of the file", "", sha256],
      ["payments", "", `${String(count)} on ${day}, together ${amountText(amountCents)}`],
    );
  },
  // A file is approved once, and its payments never change. One that ends refuses the file.
  touchedBy: NOTHING_TOUCHES,
});

function lookup({ organizationId, id: name, payments }: CollectBankFile, rows: Lookup): void {
  rows.need("bankFile", { organizationId, name });
  rows.need("railAccounts", organizationId);
  for (const { transactionId } of payments) rows.need("payment", transactionId);
}

/**
 * Gives payments that wait to the bank, all of them or none, in one commit. From then on the bank
 * may have them: none can be canceled, and none is in a second file. A file that was approved
 * before is a replay.
 *
 * Refuses, in this order: ORGANIZATION_SUSPENDED, RAIL_ACCOUNT_NOT_FOUND, RAIL_ACCOUNT_CHANGED,
 * PAYOUTS_CLOSED (also in a restored book), and for the first payment that it finds
 * BANK_FILE_OUTDATED (also once the day of the file is over), ACCOUNT_FROZEN.
 */
function decide(book: Book, command: CollectBankFile, now: UnixMillis, clock: UnixMillis): Decision<ApprovedBankFile> {
  const { organizationId, id, actor, note: reason } = command;
  const before = book.bankFile(organizationId, id);
  if (before !== undefined) return replay(before);
  const refusal = refusalByBook(book, command);
  if (refusal !== undefined) return refuse(refusal);
  const after = new BookAfter(book);
  const file = fileOf(command);
  const isLate = endOfDay(command.day) <= clock;
  const about = { ...command, now };
  const detail = detailOfBankFile(file);
  after.take({ entries: [bookEntryOf(about, { kind: "bank_file.approved", reason, detail })], puts: [] });
  for (const collected of command.payments) {
    const order = orderOf(after, organizationId, collected.transactionId);
    if (order === undefined || isLate || !isCollectable(order, command, collected)) {
      return refuse({ reason: "BANK_FILE_OUTDATED", transactionId: collected.transactionId });
    }
    const { transaction, account, payment } = order;
    if (account.status === "FROZEN") return refuse({ reason: "ACCOUNT_FROZEN", accountId: account.id });
    const row: Payment = {
      ...payment,
      state: "ACCEPTED",
      railReference: id,
      begunAt: now,
      sends: 1,
      dueAt: toUnixMillis(clock + OUTCOME_MILLIS),
      updatedAt: now,
    };
    const processing: Transaction = { ...transaction, status: "PROCESSING", updatedAt: now };
    const step = postedStep({ transaction: processing, account, kind: "transaction.processing", actor });
    after.take(effectOf([step], [{ table: "payments", row }]));
  }
  return { kind: "effect", resource: { ...file, actor, isLost: false }, effect: after.effect() };
}

function fileOf({ organizationId, id, railAccountId, sha256, day, payments }: CollectBankFile): BankFileRecord {
  const amountCents = payments.reduce((sum, each) => sum + each.amountCents, 0) as Cents;
  return { organizationId, id, railAccountId, sha256, count: payments.length, amountCents, day };
}

function refusalByBook(
  book: Book,
  { organizationId, railAccountId, railRevision }: CollectBankFile,
): Refusal | undefined {
  if (book.bookOf(organizationId).suspendedSeq !== undefined) return { reason: "ORGANIZATION_SUSPENDED" };
  const account = book.railAccounts(organizationId).find(({ id }) => id === railAccountId);
  if (account === undefined) return { reason: "RAIL_ACCOUNT_NOT_FOUND", rail: BANK_RAIL };
  // Otherwise the file would be one of other settings than those with which it is made again.
  if (account.revision !== railRevision) return { reason: "RAIL_ACCOUNT_CHANGED" };
  // A restored book may be older than what the bank has.
  const isClosed = account.payouts === "closed" || book.bookOf(organizationId).state === "RESTORED";
  return isClosed ? { reason: "PAYOUTS_CLOSED", rail: BANK_RAIL } : undefined;
}

/** Whether nobody has begun the payment, and it is as the file has it. */
function isCollectable(
  { transaction, payment }: { readonly transaction: Transaction; readonly payment: Payment },
  { railAccountId }: CollectBankFile,
  { amountCents }: CollectedPayment,
): boolean {
  return (
    transaction.status === "PENDING" &&
    transaction.openFlags.length === 0 &&
    transaction.heldFor.length === 0 &&
    transaction.amountCents === amountCents &&
    payment.state === "READY" &&
    payment.numberKind === "BANK" &&
    payment.railAccountId === railAccountId
  );
}
