import { type Account, accountOf, type LedgerAccount } from "../account.js";
import type { Commanded } from "../authority.js";
import { type Book, type Decision, type Effect, type Lookup, type Operation, refuse } from "../decision.js";
import { balancesOf } from "../journal.js";
import type { Refusal } from "../refusal.js";
import type { AccountId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Why an operator looks at the phone number and the e-mail address of a user. */
export const REVEAL_REASONS = ["customer_called", "payment_delivery", "fraud_check", "legal_request", "other"] as const;

export type RevealReason = (typeof REVEAL_REASONS)[number];

/**
 * How often one person in an hour may see personal data, or find an account by it, in all books of
 * a cell.
 */
export const REVEALS_MAX = 60;

export const REVEALS_MILLIS = 3_600_000;

/**
 * Lets an operator see the personal data of an account. Without such a reason, the operator has
 * found the account by its phone number or e-mail address, or exports all of it.
 */
export interface RevealAccount extends Commanded {
  readonly name: "revealAccount";
  readonly accountId: AccountId;
  readonly reason: RevealReason | "look_up" | "export";
  readonly note: StatusReason;
}

export const revealAccount: Operation<RevealAccount, Account> = { lookup, decide, inSuspension: "of operators" };

function lookup({ accountId, actor }: RevealAccount, rows: Lookup): void {
  rows.need("fullAccount", accountId);
  rows.need("reveals", actor);
}

/**
 * Lets an operator see the personal data of an account. The journal says who and why, and never
 * what. A repeat is another reveal: somebody looks again.
 *
 * Refuses, in this order: TOO_MANY_REVEALS, ACCOUNT_NOT_FOUND, ACCOUNT_ERASED. The limit comes
 * first, so that a person beyond it learns of no account whether it is there.
 */
function decide(book: Book, command: RevealAccount, now: UnixMillis): Decision<Account> {
  const { organizationId, accountId, reason, note } = command;
  const tooMany = refusalToLook(book, command, now);
  if (tooMany !== undefined) return refuse(tooMany);
  const account = book.account(organizationId, accountId);
  const holder = book.accountHolder(organizationId, accountId);
  if (account === undefined || holder === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
  if (holder.person === undefined) return refuse({ reason: "ACCOUNT_ERASED", accountId });

  const looked: LedgerAccount = { ...account, updatedAt: now };
  return {
    kind: "effect",
    resource: accountOf(looked, holder, book.standingFreezes(organizationId, accountId)),
    effect: effectOfLook(looked, command, `${reason}: ${note}` as StatusReason),
  };
}

/** Returns TOO_MANY_REVEALS if the person has looked as often as one may in an hour. */
export function refusalToLook(book: Book, { actor }: Pick<Commanded, "actor">, now: UnixMillis): Refusal | undefined {
  const oldest = book.reveals(actor).at(-REVEALS_MAX);
  return oldest !== undefined && oldest + REVEALS_MILLIS > now
    ? { reason: "TOO_MANY_REVEALS", limit: REVEALS_MAX, retryMillis: oldest + REVEALS_MILLIS - now }
    : undefined;
}

/** Notes that a person has looked at the personal data of the account, as it is afterwards. */
export function effectOfLook(looked: LedgerAccount, { actor }: Pick<Commanded, "actor">, reason: StatusReason): Effect {
  return {
    entries: [
      {
        organizationId: looked.organizationId,
        accountId: looked.id,
        transactionId: undefined,
        freezeId: undefined,
        kind: "account.revealed",
        posting: undefined,
        balancesAfter: balancesOf(looked),
        actor,
        reason,
        recordedAt: looked.updatedAt,
      },
    ],
    puts: [{ table: "accounts", row: looked }],
  };
}
