import { type Account, accountOf, type LedgerAccount } from "../account.js";
import type { Authorized } from "../authority.js";
import { haveDiffered, limitsIn, limitsOf } from "../book/set-limits.js";
import { changes } from "../change.js";
import { isOfAccount } from "../deciding-rows.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { balancesOf } from "../journal.js";
import { isLooser, limitsChanged, limitsOfTier, NO_TIERS, type TierName } from "../limits/limits.js";
import { withSecondPerson } from "../second-person.js";
import type { AccountId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Moves an account to another tier. */
export interface SetAccountTier extends Authorized {
  readonly name: "setAccountTier";
  readonly accountId: AccountId;
  readonly tier: TierName;
  readonly note: StatusReason;
}

const operation: Operation<SetAccountTier, Account> = { lookup, decide };

/** A second person is needed only where a limit of the account rises or ends. */
export const setAccountTier = withSecondPerson(operation, {
  groupOf: ({ organizationId, accountId, tier }, book) => {
    const { limits } = book.bookOf(organizationId);
    if (limits === undefined) return undefined;
    // The operation has refused an account that is not there.
    const { tier: before } = book.account(organizationId, accountId) as LedgerAccount;
    return isLooser(limitsOfTier(limits, before), limitsOfTier(limits, tier)) ? "limits" : undefined;
  },
  changesOf: ({ organizationId, accountId, tier }, book) => {
    const { limits = NO_TIERS } = book.bookOf(organizationId);
    const { tier: before } = book.account(organizationId, accountId) as LedgerAccount;
    return [
      ...changes(["tier", before, tier]),
      ...limitsChanged("account", limitsOfTier(limits, before), limitsOfTier(limits, tier)),
    ];
  },
  touchedBy: {
    "account.tiered": isOfAccount,
    "limits.set": (row, { organizationId, accountId, tier }, book) => {
      const { tier: before } = book.account(organizationId, accountId) as LedgerAccount;
      return haveDiffered([before, tier], limitsIn(row), limitsOf(book.bookOf(organizationId)));
    },
  },
});

function lookup({ accountId }: SetAccountTier, rows: Lookup): void {
  rows.need("fullAccount", accountId);
}

/**
 * Moves an account to another tier. What it has used of its limits stays. For an account that has
 * the tier already it returns a replay.
 *
 * Refuses, in this order: ACCOUNT_NOT_FOUND, ACCOUNT_CLOSED.
 */
function decide(book: Book, command: SetAccountTier, now: UnixMillis): Decision<Account> {
  const { organizationId, accountId, tier, actor, note: reason } = command;
  const account = book.account(organizationId, accountId);
  const holder = book.accountHolder(organizationId, accountId);
  if (account === undefined || holder === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
  if (account.status === "CLOSED") return refuse({ reason: "ACCOUNT_CLOSED", accountId });
  const freezes = book.standingFreezes(organizationId, accountId);
  if (account.tier === tier) return replay(accountOf(account, holder, freezes));

  const changed: LedgerAccount = { ...account, tier, updatedAt: now };
  return {
    kind: "effect",
    resource: accountOf(changed, holder, freezes),
    effect: {
      entries: [
        {
          organizationId,
          accountId,
          transactionId: undefined,
          freezeId: undefined,
          kind: "account.tiered",
          posting: undefined,
          balancesAfter: balancesOf(account),
          detail: tier,
          actor,
          reason,
          recordedAt: now,
        },
      ],
      puts: [{ table: "accounts", row: changed }],
    },
  };
}
