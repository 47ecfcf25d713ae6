import type { LedgerAccount } from "../account.js";
import type { Authorized } from "../authority.js";
import { type BookHead, isWithinLimits, MAX_SUM_CENTS, postedToBook } from "../book.js";
import { type Change, changes } from "../change.js";
import { chargePosting } from "../charge.js";
import { type Book, type Decision, type Effect, type Lookup, type Operation, refuse, replay } from "../decision.js";
import {
  balancesOf,
  type BookAccount,
  type DecidingRow,
  type JournalEntry,
  type JournalKind,
  postedTo,
  type Posting,
} from "../journal.js";
import { needReceipt, refusalByNumber } from "../movement.js";
import type { RailReceipt } from "../payment.js";
import { actIn, decidedProposal, detailOf, newProposal } from "../proposal.js";
import { contentOf, isSameAct } from "../proposal-content.js";
import { correctAloneMaxCents } from "../rail-account.js";
import type { Refusal } from "../refusal.js";
import { withSecondPerson } from "../second-person.js";
import { amountText, type Cents, MAX_CENTS } from "../values/cents.js";
import type { AccountId, TransactionId } from "../values/ids.js";
import type { IdempotencyKey, StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Moves money between the accounts of the organization's book. */
export type CorrectBook = Authorized & {
  readonly amountCents: Cents;
  readonly idempotencyKey: IdempotencyKey;
  readonly note: StatusReason;
} & (
    | { readonly name: "coverShortfall" }
    | { readonly name: "recoverShortfall" | "allocate"; readonly accountId: AccountId }
    | { readonly name: "returnUnallocated" | "bookReceipt"; readonly receipt: RailReceipt }
    /** Without an account that pays for it, nobody does: a shortfall. */
    | { readonly name: "bookPayment"; readonly receipt: RailReceipt; readonly accountId: AccountId | undefined }
    /** The book has a movement with another amount than the rail. */
    | {
        readonly name: "adjustMovement";
        /** The receipt of the movement, or the id of its transaction if the book has no receipt. */
        readonly movement: string;
        /** Whether more came in than the book has, or more went out. */
        readonly direction: "in" | "out";
        readonly accountId: AccountId | undefined;
      }
    /** To or from another place. Or put in for charges, or taken out of what was paid ahead. */
    | {
        readonly name: "explainTransfer" | "fundCharges";
        readonly receipt: RailReceipt;
        readonly direction: "in" | "out";
      }
  );

const operation: Operation<CorrectBook, BookHead> = { lookup, decide };

export const correctBook = withSecondPerson(operation, {
  subjectOf,
  judged: ({ organizationId, amountCents }, book) => ({
    amountCents,
    maxCents: correctAloneMaxCents(book.railAccounts(organizationId)),
  }),
  changesOf: (command, book) => changesBy(command, book.bookOf(command.organizationId)),
  touchedBy: {
    "book.covered": isOfShortfall,
    "book.recovered": isOfShortfall,
    "book.adjusted": isOfSameMovement,
  },
});

/** Only these two make the shortfall smaller. */
function isOfShortfall(_row: DecidingRow, command: CorrectBook): boolean {
  return correctionOf(command).from === "shortfall";
}

/** Two persons must not correct one movement twice. */
function isOfSameMovement({ detail = "" }: DecidingRow, command: CorrectBook): boolean {
  return "movement" in command && actIn(detail)["movement"] === command.movement;
}

function lookup(command: CorrectBook, rows: Lookup): void {
  const { organizationId } = command;
  const accountId = accountIdOf(command);
  rows.need("proposal", subjectOf(command));
  if (accountId !== undefined) rows.need("account", accountId);
  if (command.name === "allocate" || command.name === "returnUnallocated") {
    rows.need("unallocatedDeposits", organizationId);
  }
  if ("receipt" in command) needReceipt(rows, organizationId, command.receipt);
  if ("movement" in command) {
    rows.need("receipt", { organizationId, name: command.movement as RailReceipt });
    rows.need("transaction", command.movement as TransactionId);
  }
}

interface BookCorrection {
  readonly kind: Extract<JournalKind, `book.${string}`>;
  /** Undefined if the sums stay as they are. */
  readonly moves: Pick<Posting, "debit" | "credit"> | undefined;
  /** The book account that the correction empties. */
  readonly from?: "unallocated" | "shortfall";
}

function correctionOf(command: CorrectBook): BookCorrection {
  switch (command.name) {
    case "coverShortfall":
      return { kind: "book.covered", moves: { debit: "reserve", credit: "shortfall" }, from: "shortfall" };
    case "recoverShortfall":
      return { kind: "book.recovered", moves: { debit: "available", credit: "shortfall" }, from: "shortfall" };
    case "allocate":
      return { kind: "book.allocated", moves: { debit: "unallocated", credit: "available" }, from: "unallocated" };
    case "returnUnallocated":
      return { kind: "book.returned", moves: { debit: "unallocated", credit: "reserve" }, from: "unallocated" };
    case "bookReceipt":
      return { kind: "book.received", moves: { debit: "reserve", credit: "unallocated" } };
    case "bookPayment":
      return { kind: "book.paid", moves: { debit: payerOf(command), credit: "reserve" } };
    case "adjustMovement": {
      const isIn = command.direction === "in";
      const credit = command.accountId === undefined ? "unallocated" : "available";
      return {
        kind: "book.adjusted",
        moves: isIn ? { debit: "reserve", credit } : { debit: payerOf(command), credit: "reserve" },
      };
    }
    case "explainTransfer":
      return { kind: "book.transferred", moves: undefined };
    case "fundCharges":
      return { kind: "book.funded", moves: chargePosting(command.direction, command.amountCents) };
  }
}

/** The account pays for shillings that went out. Without one, nobody does. */
function payerOf({ accountId }: { readonly accountId: AccountId | undefined }): BookAccount {
  return accountId === undefined ? "shortfall" : "available";
}

function accountIdOf(command: CorrectBook): AccountId | undefined {
  return "accountId" in command ? command.accountId : undefined;
}

/**
 * Corrects the organization's book on the word of an operator:
 *
 * - the operator puts back missing shillings, or takes them from an account;
 * - gives unallocated shillings to an account or back to their sender, but none of a deposit;
 * - books shillings that came in for nobody, or that went out without an order;
 * - corrects the amount of a movement, or says that shillings only moved between two places;
 * - puts in shillings for the charges of rails, or takes out what was paid ahead.
 *
 * The same key with the same content is a replay.
 *
 * Refuses, in this order: IDEMPOTENCY_KEY_REUSED, ACCOUNT_NOT_FOUND, ACCOUNT_CLOSED, ACCOUNT_FROZEN
 * and INSUFFICIENT_FUNDS (where the account pays), LIMIT_EXCEEDED (where it gets),
 * RECEIPT_ALREADY_USED or MOVEMENT_NOT_FOUND, BOOK_ACCOUNT_TOO_LOW, LIMIT_EXCEEDED of the book.
 */
function decide(book: Book, command: CorrectBook, now: UnixMillis, clock: UnixMillis): Decision<BookHead> {
  const { organizationId, authority, amountCents } = command;
  const head = book.bookOf(organizationId);
  const content = contentOf({ ...command, shown: command.shown ?? changesBy(command, head) });
  const subject = subjectOf(command);
  const earlier = book.proposal(organizationId, subject);
  if (earlier?.decided?.as === "APPROVED") {
    return isSameAct(earlier.content, content) ? replay(head) : refuse({ reason: "IDEMPOTENCY_KEY_REUSED" });
  }
  const correction = correctionOf(command);
  const accountId = accountIdOf(command);
  const account = accountId === undefined ? undefined : book.account(organizationId, accountId);
  const refusal = refusalByAccount(command, account, correction) ?? refusalByBook(book, command, correction);
  if (refusal !== undefined) return refuse(refusal);

  const { kind, moves } = correction;
  const posting: Posting | undefined = moves === undefined ? undefined : { ...moves, amountCents };
  const posted =
    account === undefined || posting === undefined
      ? undefined
      : { ...account, ...postedTo(account, posting), updatedAt: now };
  const intent = { organizationId, subject, content, ...authority };
  const entry: JournalEntry = {
    organizationId,
    accountId: posted?.id,
    transactionId: undefined,
    freezeId: undefined,
    kind,
    posting,
    balancesAfter: posted && balancesOf(posted),
    detail: detailOf(intent),
    receipt: "receipt" in command ? command.receipt : undefined,
    actor: command.actor,
    reason: command.note,
    recordedAt: now,
  };
  // The row keeps the key for ever. What two persons do has the row of its proposal.
  const row = decidedProposal(newProposal(intent, { now, clock }), "APPROVED", { by: authority.person, at: now });
  return corrected(head, {
    entries: [entry],
    puts: [
      ...(posted === undefined ? [] : [{ table: "accounts", row: posted } as const]),
      ...(authority.proposer === undefined ? [{ table: "proposals", row } as const] : []),
    ],
  });
}

/**
 * Only a shortfall is replaced. All else is added to what stands by then, which changes with each
 * transaction.
 */
function changesBy(command: CorrectBook, { sums }: BookHead): readonly Change[] {
  const { amountCents } = command;
  const isOfShortfall = correctionOf(command).from === "shortfall";
  return changes(
    ["amount", "", amountText(amountCents)],
    ...(isOfShortfall
      ? ([["shortfall", amountText(sums.shortfall), amountText(sums.shortfall - amountCents)]] as const)
      : []),
    ["account", "", accountIdOf(command)],
    ["receipt", "", "receipt" in command ? command.receipt : undefined],
    ["movement", "", "movement" in command ? command.movement : undefined],
    ["direction", "", "direction" in command ? command.direction : undefined],
  );
}

function subjectOf({ organizationId, idempotencyKey }: CorrectBook): string {
  return `${organizationId}:${idempotencyKey}`;
}

function refusalByAccount(
  command: CorrectBook,
  account: LedgerAccount | undefined,
  { moves }: BookCorrection,
): Refusal | undefined {
  const accountId = accountIdOf(command);
  if (accountId === undefined) return undefined;
  if (account === undefined) return { reason: "ACCOUNT_NOT_FOUND", accountId };
  if (account.status === "CLOSED") return { reason: "ACCOUNT_CLOSED", accountId };
  const { availableCents, heldCents } = account;
  const { amountCents } = command;
  if (moves?.debit === "available") {
    // As with late money, a frozen account is credited. Only its own shillings must stay.
    if (account.status === "FROZEN") return { reason: "ACCOUNT_FROZEN", accountId };
    return amountCents > availableCents
      ? { reason: "INSUFFICIENT_FUNDS", availableCents, requestedCents: amountCents }
      : undefined;
  }
  return availableCents + heldCents + amountCents > MAX_CENTS
    ? { reason: "LIMIT_EXCEEDED", accountId, limitCents: MAX_CENTS }
    : undefined;
}

function refusalByBook(book: Book, command: CorrectBook, { moves, from }: BookCorrection): Refusal | undefined {
  const { organizationId, amountCents } = command;
  const byReceipt = "receipt" in command ? refusalByNumber(book, organizationId, command.receipt) : undefined;
  if (byReceipt !== undefined) return byReceipt;
  if ("movement" in command && !hasMovement(book, command)) {
    return { reason: "MOVEMENT_NOT_FOUND", movement: command.movement };
  }
  const { sums } = book.bookOf(organizationId);
  if (from !== undefined) {
    // The shillings of a deposit go by the deposit alone, or they would be given out twice.
    const ofDeposits = from === "unallocated" ? book.unallocatedDepositCents(organizationId) : 0;
    const balanceCents = sums[from] - ofDeposits;
    if (amountCents > balanceCents) {
      return { reason: "BOOK_ACCOUNT_TOO_LOW", bookAccount: from, balanceCents, requestedCents: amountCents };
    }
  }
  return moves === undefined || isWithinLimits(postedToBook(sums, { ...moves, amountCents }))
    ? undefined
    : { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: MAX_SUM_CENTS };
}

/** Whether a row of the book has the receipt, or ended the transaction as completed. */
function hasMovement(book: Book, { organizationId, movement }: CorrectBook & { readonly movement: string }): boolean {
  return (
    book.receipt(organizationId, movement as RailReceipt) !== undefined ||
    book.transaction(organizationId, movement as TransactionId)?.status === "COMPLETED"
  );
}

/** The book as it is after the effect. */
function corrected(head: BookHead, effect: Effect & { entries: readonly [JournalEntry] }): Decision<BookHead> {
  const [{ posting, recordedAt }] = effect.entries;
  const sums = posting === undefined ? head.sums : postedToBook(head.sums, posting);
  const resource: BookHead = { ...head, lastSeq: head.lastSeq + 1, lastRecordedAt: recordedAt, sums };
  return { kind: "effect", resource, effect };
}
