import type { LedgerAccount } from "../account.js";
import { type BookHead, isWithinLimits, MAX_SUM_CENTS, postedToBook } from "../book.js";
import type { CorrectBook } from "../commands.js";
import { type Book, type Decision, type Effect, type Lookup, type Operation, refuse, replay } from "../decision.js";
import {
  balancesOf,
  type BookAccount,
  type JournalEntry,
  type JournalKind,
  postedTo,
  type Posting,
} from "../journal.js";
import { detailOf, type Intent, isApproved, standingAfter } from "../proposal.js";
import type { Refusal } from "../refusal.js";
import { MAX_CENTS } from "../values/cents.js";
import type { UnixMillis } from "../values/time.js";

export const correctBook: Operation<CorrectBook, BookHead> = { lookup, decide };

function lookup(command: CorrectBook, rows: Lookup): void {
  const { organizationId } = command;
  rows.proposal(subjectOf(command));
  if ("accountId" in command) rows.account(command.accountId);
  if ("receipt" in command) rows.receipt(organizationId, command.receipt);
}

interface Correction {
  readonly kind: Extract<JournalKind, `book.${string}`>;
  readonly debit: BookAccount;
  readonly credit: BookAccount;
  /** The book account that the correction empties. */
  readonly from?: "unallocated" | "shortfall";
}

const CORRECTIONS = {
  coverShortfall: { kind: "book.covered", debit: "reserve", credit: "shortfall", from: "shortfall" },
  recoverShortfall: { kind: "book.recovered", debit: "available", credit: "shortfall", from: "shortfall" },
  allocate: { kind: "book.allocated", debit: "unallocated", credit: "available", from: "unallocated" },
  returnUnallocated: { kind: "book.returned", debit: "unallocated", credit: "reserve", from: "unallocated" },
  bookReceipt: { kind: "book.received", debit: "reserve", credit: "unallocated" },
} as const satisfies Record<CorrectBook["name"], Correction>;

/**
 * Corrects the organization's book on the word of an operator: the operator puts back missing
 * shillings or takes them from an account, gives unallocated shillings to an account or back to
 * their sender, or books shillings that came in for nobody. Above `aloneMaxCents` another person
 * must have proposed the same; otherwise the correction is noted as a proposal. The same key with
 * the same content is a replay.
 *
 * Refuses, in this order: IDEMPOTENCY_KEY_REUSED, ACCOUNT_NOT_FOUND, ACCOUNT_CLOSED, ACCOUNT_FROZEN
 * (recoverShortfall), RECEIPT_ALREADY_USED, BOOK_ACCOUNT_TOO_LOW, INSUFFICIENT_FUNDS
 * (recoverShortfall), LIMIT_EXCEEDED.
 */
function decide(book: Book, command: CorrectBook, now: UnixMillis): Decision<BookHead> {
  const { organizationId, person, amountCents } = command;
  const head = book.bookOf(organizationId);
  const intent: Intent = { organizationId, subject: subjectOf(command), content: contentOf(command), person };
  const standing = book.proposal(organizationId, intent.subject);
  if (standing?.doneAt !== undefined) {
    return standing.content === intent.content ? replay(head) : refuse({ reason: "IDEMPOTENCY_KEY_REUSED" });
  }
  const account = "accountId" in command ? book.account(organizationId, command.accountId) : undefined;
  const refusal = refusalByAccount(command, account) ?? refusalByBook(book, command);
  if (refusal !== undefined) return refuse(refusal);

  const row = standingAfter(standing, intent, now);
  if (!isApproved(standing, intent, amountCents <= command.aloneMaxCents)) {
    if (row === standing) return replay(head);
    const entry = entryOf(command, { kind: "book.proposed", detail: detailOf(intent), now });
    return corrected(head, { entries: [entry], puts: [{ table: "proposals", row }] });
  }
  const { kind, debit, credit } = CORRECTIONS[command.name];
  const posting: Posting = { debit, credit, amountCents };
  const posted = account === undefined ? undefined : { ...account, ...postedTo(account, posting), updatedAt: now };
  const entry = entryOf(command, { kind, posting, account: posted, detail: detailOf(intent), now });
  return corrected(head, {
    entries: [entry],
    puts: [
      ...(posted === undefined ? [] : [{ table: "accounts", row: posted } as const]),
      { table: "proposals", row: { ...row, doneAt: now } },
    ],
  });
}

function subjectOf({ organizationId, idempotencyKey }: CorrectBook): string {
  return `${organizationId}:${idempotencyKey}`;
}

function contentOf(command: CorrectBook): string {
  const target = "accountId" in command ? [command.accountId] : "receipt" in command ? [command.receipt] : [];
  return JSON.stringify([command.name, command.amountCents, ...target]);
}

function refusalByAccount(command: CorrectBook, account: LedgerAccount | undefined): Refusal | undefined {
  if (!("accountId" in command)) return undefined;
  const { accountId } = command;
  if (account === undefined) return { reason: "ACCOUNT_NOT_FOUND", accountId };
  if (account.status === "CLOSED") return { reason: "ACCOUNT_CLOSED", accountId };
  // As with late money, a frozen account is credited. Only its own shillings must stay.
  if (account.status === "FROZEN" && command.name === "recoverShortfall")
    return { reason: "ACCOUNT_FROZEN", accountId };
  const { availableCents, heldCents } = account;
  const { amountCents } = command;
  if (command.name === "recoverShortfall" && amountCents > availableCents) {
    return { reason: "INSUFFICIENT_FUNDS", availableCents, requestedCents: amountCents };
  }
  return command.name === "allocate" && availableCents + heldCents + amountCents > MAX_CENTS
    ? { reason: "LIMIT_EXCEEDED", accountId, limitCents: MAX_CENTS }
    : undefined;
}

function refusalByBook(book: Book, command: CorrectBook): Refusal | undefined {
  const { organizationId, amountCents, name } = command;
  const used = "receipt" in command ? book.receipt(organizationId, command.receipt) : undefined;
  if (used !== undefined && "receipt" in command) {
    return { reason: "RECEIPT_ALREADY_USED", receipt: command.receipt, transactionId: used.transactionId };
  }
  const { sums } = book.bookOf(organizationId);
  const correction: Correction = CORRECTIONS[name];
  const { from } = correction;
  if (from !== undefined && amountCents > sums[from]) {
    return { reason: "BOOK_ACCOUNT_TOO_LOW", bookAccount: from, balanceCents: sums[from], requestedCents: amountCents };
  }
  return isWithinLimits(postedToBook(sums, { ...correction, amountCents }))
    ? undefined
    : { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: MAX_SUM_CENTS };
}

function entryOf(
  command: CorrectBook,
  given: Pick<JournalEntry, "kind" | "detail"> & {
    posting?: Posting;
    account?: LedgerAccount | undefined;
    now: UnixMillis;
  },
): JournalEntry {
  const { organizationId, actor, reason } = command;
  const { kind, detail, posting, account, now } = given;
  return {
    organizationId,
    accountId: account?.id,
    transactionId: undefined,
    freezeId: undefined,
    kind,
    posting,
    balancesAfter: account === undefined ? undefined : balancesOf(account),
    detail,
    receipt: posting !== undefined && "receipt" in command ? command.receipt : undefined,
    actor,
    reason,
    recordedAt: now,
  };
}

/** The book as it is after the effect. */
function corrected(head: BookHead, effect: Effect & { entries: readonly [JournalEntry] }): Decision<BookHead> {
  const [{ posting, recordedAt }] = effect.entries;
  const sums = posting === undefined ? head.sums : postedToBook(head.sums, posting);
  const resource: BookHead = { ...head, lastSeq: head.lastSeq + 1, lastRecordedAt: recordedAt, sums };
  return { kind: "effect", resource, effect };
}
