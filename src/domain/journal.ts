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

/** The kind of event that an entry records. */
export type JournalKind = (typeof JOURNAL_KINDS)[number];

/**
 * The book accounts. `reserve` is an asset: the KES that backs the KESC of an organization, one
 * account for each organization. `available` and `held` are liabilities: the KESC owed to one user,
 * one pair for each account.
 */
export type BookAccount = "reserve" | "available" | "held";

/** One movement of money: it debits and credits the same amount. */
export interface Posting {
  readonly debit: BookAccount;
  readonly credit: BookAccount;
  readonly amountCents: Cents;
}

/** The author of an entry: an API key's id, a rail's name, or "operator". */
export type Actor = string & { readonly brand: unique symbol };

/**
 * One row of the journal, without the `seq` that the store assigns. A written row never changes.
 */
export interface JournalEntry {
  readonly organizationId: OrganizationId;
  readonly accountId: AccountId;
  readonly transactionId: TransactionId | undefined;
  readonly kind: JournalKind;
  /** Undefined if no money moves. */
  readonly posting: Posting | undefined;
  readonly availableAfterCents: Cents;
  readonly heldAfterCents: Cents;
  readonly actor: Actor;
  readonly reason: StatusReason;
  readonly recordedAt: UnixMillis;
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

/**
 * Returns the account's balances after a posting. `reserve` belongs to the organization, so it
 * changes neither balance.
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
