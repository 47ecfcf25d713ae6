import { type Account, accountOf, type LedgerAccount } from "../account.js";
import { type Book, type Decision, type Lookup, type Operation, refuse } from "../decision.js";
import { balancesOf } from "../journal.js";
import { type RevealAccount, REVEALS_MAX, REVEALS_MILLIS } from "../reveal.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

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
  const { organizationId, accountId, actor, reason, note } = command;
  const oldest = book.reveals(actor).at(-REVEALS_MAX);
  if (oldest !== undefined && oldest + REVEALS_MILLIS > now) {
    return refuse({ reason: "TOO_MANY_REVEALS", limit: REVEALS_MAX, retryMillis: oldest + REVEALS_MILLIS - now });
  }
  const account = book.account(organizationId, accountId);
  const holder = book.accountHolder(organizationId, accountId);
  if (account === undefined || holder === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
  if (holder.person === undefined) return refuse({ reason: "ACCOUNT_ERASED", accountId });

  const changed: LedgerAccount = { ...account, updatedAt: now };
  return {
    kind: "effect",
    resource: accountOf(changed, holder, book.standingFreezes(organizationId, accountId)),
    effect: {
      entries: [
        {
          organizationId,
          accountId,
          transactionId: undefined,
          freezeId: undefined,
          kind: "account.revealed",
          posting: undefined,
          balancesAfter: balancesOf(account),
          actor,
          reason: `${reason}: ${note}` as StatusReason,
          recordedAt: now,
        },
      ],
      puts: [{ table: "accounts", row: changed }],
    },
  };
}
