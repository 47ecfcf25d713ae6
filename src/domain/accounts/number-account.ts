import type { LedgerAccount } from "../account.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { freeReference } from "../deposits/free-reference.js";
import { balancesOf } from "../journal.js";
import type { Commanded } from "../second-person.js";
import type { DepositReference } from "../values/deposit-reference.js";
import type { AccountId } from "../values/ids.js";
import { NO_REASON } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** What NumberAccount returns. */
export interface NumberedAccount {
  readonly account: LedgerAccount;
}

/** Gives a deposit reference to an account from before there were such references. */
export interface NumberAccount extends Commanded {
  readonly name: "numberAccount";
  readonly accountId: AccountId;
  /** Random ones: the account gets the first that is free. */
  readonly depositReferences: readonly DepositReference[];
}

export const numberAccount: Operation<NumberAccount, NumberedAccount> = { lookup, decide, inSuspension: "always" };

function lookup({ organizationId, accountId, depositReferences }: NumberAccount, rows: Lookup): void {
  rows.need("account", accountId);
  for (const name of depositReferences) rows.need("accountWithDepositReference", { organizationId, name });
}

/**
 * Gives a deposit reference to an account that has none. An account that has one, and one for
 * which no reference is free, is a replay: the service tries again with others.
 *
 * Refuses: ACCOUNT_NOT_FOUND.
 */
function decide(book: Book, command: NumberAccount, now: UnixMillis): Decision<NumberedAccount> {
  const { organizationId, accountId, actor } = command;
  const account = book.account(organizationId, accountId);
  if (account === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
  const depositReference = account.depositReference ?? freeReference(book, command);
  if (depositReference === account.depositReference) return replay({ account });
  const row: LedgerAccount = { ...account, depositReference, updatedAt: now };
  return {
    kind: "effect",
    resource: { account: row },
    effect: {
      entries: [
        {
          organizationId,
          accountId,
          transactionId: undefined,
          freezeId: undefined,
          kind: "account.numbered",
          posting: undefined,
          balancesAfter: balancesOf(account),
          detail: depositReference,
          actor,
          reason: NO_REASON,
          recordedAt: now,
        },
      ],
      puts: [{ table: "accounts", row }],
    },
  };
}
