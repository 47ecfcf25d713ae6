import type { LedgerAccount } from "../account.js";
import { type BookHead, isWithinLimits, MAX_SUM_CENTS, postedToBook } from "../book.js";
import { type Change, changes } from "../change.js";
import { chargePosting } from "../charge.js";
import { type Book, type Decision, type Effect, type Lookup, type Operation, refuse, replay } from "../decision.js";
import {
  balancesOf,
  type BookAccount,
  type JournalEntry,
  type JournalKind,
  postedTo,
  type Posting,
} from "../journal.js";
import { refusalByReceipt } from "../movement.js";
import type { RailReceipt } from "../payment.js";
import { decidedProposal, detailOf, type Intent, isApproved, personsOf, standingAfter } from "../proposal.js";
import { correctAloneMaxCents } from "../rail-account.js";
import type { Refusal } from "../refusal.js";
import {
  type Acted,
  type Authorized,
  contentOf,
  isSameAct,
  refusalIfOutdated,
  refusalToApprove,
  refusalToPropose,
} from "../second-person.js";
import type { Actor } from "../values/actor.js";
import { amountText, type Cents, MAX_CENTS } from "../values/cents.js";
import type { AccountId } from "../values/ids.js";
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

export const correctBook: Operation<CorrectBook, Acted<BookHead>> = { lookup, decide, inSuspension: "always" };

function lookup(command: CorrectBook, rows: Lookup): void {
  const { organizationId } = command;
  const accountId = accountIdOf(command);
  rows.need("proposal", subjectOf(command));
  rows.need("waitingProposals", organizationId);
  rows.need("railAccounts", organizationId);
  if (accountId !== undefined) rows.need("account", accountId);
  if (command.name === "allocate" || command.name === "returnUnallocated") {
    rows.need("unallocatedDeposits", organizationId);
  }
  if ("receipt" in command) rows.need("receipt", { organizationId, name: command.receipt });
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
 * Above what the accounts at rails let one person do, another one must have proposed the same;
 * otherwise the correction is noted as a proposal. The same key with the same content is a replay.
 *
 * Refuses, in this order: those of `refusalToApprove`, IDEMPOTENCY_KEY_REUSED, ACCOUNT_NOT_FOUND,
 * ACCOUNT_CLOSED, ACCOUNT_FROZEN and INSUFFICIENT_FUNDS (where the account pays), LIMIT_EXCEEDED
 * (where it gets), RECEIPT_ALREADY_USED, BOOK_ACCOUNT_TOO_LOW, LIMIT_EXCEEDED of the book,
 * PROPOSAL_OUTDATED (the shortfall is another one), TOO_MANY_PROPOSALS.
 */
function decide(book: Book, command: CorrectBook, now: UnixMillis): Decision<Acted<BookHead>> {
  const { organizationId, authority, amountCents } = command;
  const head = book.bookOf(organizationId);
  const shown = changesBy(command, head);
  const intent: Intent = {
    organizationId,
    subject: subjectOf(command),
    content: contentOf({ ...command, shown: command.shown ?? shown }),
    ...authority,
    lapses: true,
  };
  const standing = book.proposal(organizationId, intent.subject);
  const closed = refusalToApprove(standing, command, now);
  if (closed !== undefined) return refuse(closed);
  if (standing?.decided?.as === "APPROVED") {
    return isSameAct(standing.content, intent.content)
      ? replay({ resource: head })
      : refuse({ reason: "IDEMPOTENCY_KEY_REUSED" });
  }
  const correction = correctionOf(command);
  const accountId = accountIdOf(command);
  const account = accountId === undefined ? undefined : book.account(organizationId, accountId);
  const refusal =
    refusalByAccount(command, account, correction) ??
    refusalByBook(book, command, correction) ??
    refusalIfOutdated(command, shown);
  if (refusal !== undefined) return refuse(refusal);

  const row = standingAfter(standing, intent, now);
  const isOneEnough = amountCents <= correctAloneMaxCents(book.railAccounts(organizationId));
  if (!isApproved(standing, intent, { isOneEnough, now })) {
    if (row === standing) return replay({ proposal: row });
    const tooMany = refusalToPropose(book, command, now);
    if (tooMany !== undefined) return refuse(tooMany);
    const entry = entryOf(command, { kind: "book.proposed", detail: detailOf(intent), now });
    return {
      kind: "effect",
      resource: { proposal: row },
      effect: { entries: [entry], puts: [{ table: "proposals", row }] },
    };
  }
  const { kind, moves } = correction;
  const posting: Posting | undefined = moves === undefined ? undefined : { ...moves, amountCents };
  const posted =
    account === undefined || posting === undefined
      ? undefined
      : { ...account, ...postedTo(account, posting), updatedAt: now };
  const receipt = "receipt" in command ? command.receipt : undefined;
  const persons = personsOf(standing, intent, now);
  const actor = persons.length > 1 ? (persons.join(",") as Actor) : command.actor;
  const entry = entryOf(
    { ...command, actor },
    { kind, posting, account: posted, receipt, detail: detailOf(intent), now },
  );
  return corrected(head, {
    entries: [entry],
    puts: [
      ...(posted === undefined ? [] : [{ table: "accounts", row: posted } as const]),
      { table: "proposals", row: decidedProposal(row, "APPROVED", { by: authority.person, at: now }) },
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
    ["reason", "", command.note],
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
  const byReceipt = "receipt" in command ? refusalByReceipt(book, organizationId, command.receipt) : undefined;
  if (byReceipt !== undefined) return byReceipt;
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

function entryOf(
  command: CorrectBook,
  given: Pick<JournalEntry, "kind" | "detail"> & {
    posting?: Posting | undefined;
    account?: LedgerAccount | undefined;
    receipt?: RailReceipt | undefined;
    now: UnixMillis;
  },
): JournalEntry {
  const { organizationId, actor, note: reason } = command;
  const { kind, detail, posting, account, receipt, now } = given;
  return {
    organizationId,
    accountId: account?.id,
    transactionId: undefined,
    freezeId: undefined,
    kind,
    posting,
    balancesAfter: account === undefined ? undefined : balancesOf(account),
    detail,
    receipt,
    actor,
    reason,
    recordedAt: now,
  };
}

/** The book as it is after the effect. */
function corrected(head: BookHead, effect: Effect & { entries: readonly [JournalEntry] }): Decision<Acted<BookHead>> {
  const [{ posting, recordedAt }] = effect.entries;
  const sums = posting === undefined ? head.sums : postedToBook(head.sums, posting);
  const resource: BookHead = { ...head, lastSeq: head.lastSeq + 1, lastRecordedAt: recordedAt, sums };
  return { kind: "effect", resource: { resource }, effect };
}
