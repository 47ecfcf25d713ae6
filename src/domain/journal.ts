import type { LedgerAccount } from "./account.js";
import type { AloneSum } from "./alone.js";
import type { RailReceipt } from "./payment.js";
import type { Decider } from "./proposal.js";
import type { Actor } from "./values/actor.js";
import { addCents, type Cents, subtractCents } from "./values/cents.js";
import type { AccountId, FreezeId, OrganizationId, TransactionId } from "./values/ids.js";
import type { StatusReason } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

export const JOURNAL_KINDS = [
  "organization.created",
  "organization.suspended",
  "organization.resumed",
  "organization.receipts_required",
  "organization.receipts_optional",
  "key.created",
  "key.revoked",
  "account.created",
  "account.frozen",
  "account.unfrozen",
  "account.closed",
  "account.updated",
  "account.erased",
  "account.revealed",
  "account.tiered",
  "transaction.pending",
  "transaction.held",
  "transaction.released",
  "transaction.checked",
  "transaction.processing",
  "transaction.completed",
  "transaction.failed",
  "transaction.canceled",
  "transaction.receipted",
  "transaction.flagged",
  "transaction.attended",
  "transaction.resolution_proposed",
  "deposit.received",
  "deposit.returning",
  "deposit.returned",
  "deposit.return_failed",
  "deposit.reversed",
  "book.proposed",
  "book.proposal_rejected",
  "book.proposal_approved",
  "book.covered",
  "book.recovered",
  "book.allocated",
  "book.returned",
  "book.received",
  "book.paid",
  "book.adjusted",
  "book.transferred",
  "book.funded",
  "charge.recorded",
  "webhook_endpoint.created",
  "webhook_endpoint.updated",
  "webhook_endpoint.disabled",
  "webhook_endpoint.deleted",
  "reserve.recorded",
  "limits.set",
  "rail.changed",
  "rail.warned",
  "rail.cleared",
  "reserve.rules_set",
  "reserve.place_set",
  "destination.created",
  "destination.removed",
  "month.closed",
  "payouts.approved",
  "bank_file.approved",
  "bank_file.downloaded",
  "bank_file.lost",
  "payouts.stopped",
  "payouts.check_set",
  "payouts.check_cleared",
  "payouts.list_set",
] as const;

/** The kind of event that an entry records. */
export type JournalKind = (typeof JOURNAL_KINDS)[number];

/**
 * The kinds of rows that outdate a proposal or close it. They are rare: no mint, redemption or
 * deposit writes one. The index `journal_deciding` has the same list.
 */
export const DECIDING_KINDS = [
  "account.frozen",
  "account.unfrozen",
  "account.tiered",
  "transaction.resolution_proposed",
  "deposit.return_failed",
  "book.proposed",
  "book.proposal_rejected",
  "book.proposal_approved",
  "book.covered",
  "book.recovered",
  "book.allocated",
  "book.returned",
  "book.received",
  "book.paid",
  "book.adjusted",
  "book.transferred",
  "book.funded",
  "reserve.recorded",
  "reserve.rules_set",
  "limits.set",
  "rail.changed",
] as const satisfies readonly JournalKind[];

export type DecidingKind = (typeof DECIDING_KINDS)[number];

const DECIDING: ReadonlySet<string> = new Set(DECIDING_KINDS);

/** A row of one of these kinds, as far as a proposal is compared with it. */
export interface DecidingRow extends Pick<JournalEntry, "organizationId" | "accountId" | "transactionId" | "detail"> {
  readonly seq: number;
  readonly kind: DecidingKind;
}

export function isDeciding<Row extends { readonly kind: JournalKind }>(
  row: Row,
): row is Row & { readonly kind: DecidingKind } {
  return DECIDING.has(row.kind);
}

/** The detail of an `account.unfrozen` entry after which other freezes still stand. */
export const STILL_FROZEN = "FROZEN";

/** The kinds of entries about the organization itself. They have no account. */
export type BookKind = Extract<
  JournalKind,
  `${"organization" | "key" | "webhook_endpoint" | "reserve" | "limits" | "rail" | "charge" | "month" | "payouts" | "bank_file"}.${string}`
>;

/**
 * The book accounts of an organization's book.
 *
 * - `reserve`, an asset: the KES that came in, minus the KES that went out. Only `shortfall` and
 *   `charges` let it fall below zero.
 * - `shortfall`, an asset: the KES that went out without backing. The operator must put it back.
 * - `charges`, an asset: the KES that rails took for their work, minus what the organization put in
 *   for that. Below zero if it has paid ahead.
 * - `available` and `held`, liabilities: the KESC owed to the users, one pair for each account.
 * - `unallocated`, a liability: the KES that came in, but belongs to no account yet.
 */
export const BOOK_ACCOUNTS = ["reserve", "shortfall", "charges", "available", "held", "unallocated"] as const;

export type BookAccount = (typeof BOOK_ACCOUNTS)[number];

/** A debit adds to these, and takes from the others. */
export const ASSETS: ReadonlySet<string> = new Set<BookAccount>(["reserve", "shortfall", "charges"]);

/** The debts to users: what is in circulation. */
export const OF_USERS: ReadonlySet<string> = new Set<BookAccount>(["available", "held"]);

/** The book accounts that may be below zero. */
export const MAY_BE_NEGATIVE: ReadonlySet<string> = new Set<BookAccount>(["reserve", "charges"]);

export type Balances = Pick<LedgerAccount, "availableCents" | "heldCents">;

export function balancesOf({ availableCents, heldCents }: Balances): Balances {
  return { availableCents, heldCents };
}

/** One movement of money: it debits and credits the same amount. */
export interface Posting {
  readonly debit: BookAccount;
  readonly credit: BookAccount;
  readonly amountCents: Cents;
}

/** One row of an organization's journal, without its `seq`. A written row never changes. */
export interface JournalEntry {
  readonly organizationId: OrganizationId;
  /** Undefined if the entry concerns the organization itself. */
  readonly accountId: AccountId | undefined;
  readonly transactionId: TransactionId | undefined;
  /** The freeze that the entry began or ended. */
  readonly freezeId: FreezeId | undefined;
  readonly kind: JournalKind;
  /** Undefined if no money moves. */
  readonly posting: Posting | undefined;
  /** The account's balances after the entry. Undefined without an account. */
  readonly balancesAfter: Balances | undefined;
  /**
   * What the kind leaves open, in the words of the service: the reason of a failure or of a flag,
   * that a movement was reported LATE, that an account is still FROZEN, its new tier, its deposit
   * reference, the deposit (`depositDetail`) or destination, or what an operator proposed or did.
   * `detailBy` makes the detail of a step that persons decided.
   */
  readonly detail?: string | undefined;
  /** The receipt of the movement that the entry books. A book has each receipt once. */
  readonly receipt?: RailReceipt | undefined;
  /** On the first entry of what one person did alone by amount: the person's sum of the day. */
  readonly alone?: AloneSum;
  readonly actor: Actor;
  readonly reason: StatusReason;
  readonly recordedAt: UnixMillis;
}

/**
 * Returns the detail of a step of a transaction: its word, and the persons who decided it. The
 * person who proposed it comes first.
 */
export function detailBy(word: string | undefined, persons: readonly Decider[] = []): string | undefined {
  return persons.length === 0 ? word : JSON.stringify([word ?? "", ...persons]);
}

/** Returns the word of a detail that `detailBy` made. */
export function wordOf(detail: string | undefined): string | undefined {
  if (detail?.startsWith("[") !== true) return detail;
  const [word] = JSON.parse(detail) as string[];
  return word === "" ? undefined : word;
}

/** Records incoming shillings: the reserve grows, and so does the debt to the user. */
export function mintPosting(amountCents: Cents): Posting {
  return { debit: "reserve", credit: "available", amountCents };
}

/** Records outgoing shillings: the debt to the user shrinks, and so does the reserve. */
export function redeemPosting(amountCents: Cents): Posting {
  return { debit: "available", credit: "reserve", amountCents };
}

/**
 * Holds KESC until the rail has sent the shillings, or until the redemption fails or is canceled.
 */
export function holdPosting(amountCents: Cents): Posting {
  return { debit: "available", credit: "held", amountCents };
}

/** Makes held KESC available again. */
export function releasePosting(amountCents: Cents): Posting {
  return { debit: "held", credit: "available", amountCents };
}

/** Burns held KESC when the rail has sent the shillings. */
export function burnPosting(amountCents: Cents): Posting {
  return { debit: "held", credit: "reserve", amountCents };
}

/** Records incoming shillings that no account can take. */
export function unallocatedPosting(amountCents: Cents): Posting {
  return { debit: "reserve", credit: "unallocated", amountCents };
}

/** Gives shillings that came in before to an account. */
export function creditPosting(amountCents: Cents): Posting {
  return { debit: "unallocated", credit: "available", amountCents };
}

/** Takes a credit back: the shillings belong to no account again. */
export function uncreditPosting(amountCents: Cents): Posting {
  return { debit: "available", credit: "unallocated", amountCents };
}

/** Records that shillings which belonged to no account went out again. */
export function returnPosting(amountCents: Cents): Posting {
  return { debit: "unallocated", credit: "reserve", amountCents };
}

/** Records outgoing shillings for which the account had no KESC. */
export function shortfallPosting(amountCents: Cents): Posting {
  return { debit: "shortfall", credit: "reserve", amountCents };
}

/** Returns the account's balances after a posting. The other book accounts belong to no account. */
export function postedTo(balances: Balances, posting: Posting): Balances {
  const move = (book: "available" | "held", balanceCents: Cents): Cents => {
    if (posting.debit === book) return subtractCents(balanceCents, posting.amountCents);
    if (posting.credit === book) return addCents(balanceCents, posting.amountCents);
    return balanceCents;
  };
  return {
    availableCents: move("available", balances.availableCents),
    heldCents: move("held", balances.heldCents),
  };
}
