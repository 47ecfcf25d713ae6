import type { Account } from "./account.js";
import { addCents, type Cents, subtractCents } from "./values/cents.js";
import type { AccountId, OrganizationId, TransactionId } from "./values/ids.js";
import type { StatusReason } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

export const JOURNAL_KINDS = [
  "account.created",
  "account.frozen",
  "account.unfrozen",
  "account.closed",
  "transaction.pending",
  "transaction.completed",
  "transaction.canceled",
] as const;

/** What happened. */
export type JournalKind = (typeof JOURNAL_KINDS)[number];

/**
 * The book accounts. `reserve` is the KES that the organization's KESC stands on (an asset, one for
 * the organization);
 * `available` and `held` are the KESC owed to one user (liabilities, one pair for each account).
 */
export type BookAccount = "reserve" | "available" | "held";

/** Money moving: `debit` and `credit` by the same amount. */
export interface Posting {
  readonly debit: BookAccount;
  readonly credit: BookAccount;
  readonly amountCents: Cents;
}

/** Who did it: an API key's id, a rail's name, or "operator". */
export type Actor = string & { readonly brand: unique symbol };

/** One row of the journal, before the store has given it its `seq`. Never changed once written. */
export interface JournalEntry {
  readonly organizationId: OrganizationId;
  readonly accountId: AccountId;
  readonly transactionId: TransactionId | undefined;
  readonly kind: JournalKind;
  /** Absent where no money moved. */
  readonly posting: Posting | undefined;
  readonly availableAfterCents: Cents;
  readonly heldAfterCents: Cents;
  readonly actor: Actor;
  readonly reason: StatusReason;
  readonly recordedAt: UnixMillis;
}

/** Shillings came in: we hold more, and owe more. */
export function mintPosting(amountCents: Cents): Posting {
  return { debit: "reserve", credit: "available", amountCents };
}

/** Shillings went out: we owe less, and hold less. */
export function redeemPosting(amountCents: Cents): Posting {
  return { debit: "available", credit: "reserve", amountCents };
}

/** Sets KESC aside until its shillings have gone out, or have not. */
export function holdPosting(amountCents: Cents): Posting {
  return { debit: "available", credit: "held", amountCents };
}

/** Gives held KESC back. */
export function releasePosting(amountCents: Cents): Posting {
  return { debit: "held", credit: "available", amountCents };
}

/**
 * The balances after a posting. `reserve` is the organization's, so it changes neither of the
 * account's.
 */
export function postedTo(
  balances: Pick<Account, "availableCents" | "heldCents">,
  posting: Posting,
): Pick<Account, "availableCents" | "heldCents"> {
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
