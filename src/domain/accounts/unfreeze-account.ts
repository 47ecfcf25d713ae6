import { accountOf, type AccountWithFreeze, type LedgerAccount } from "../account.js";
import type { Authorized } from "../authority.js";
import { changes, inWords } from "../change.js";
import { isOfAccount } from "../deciding-rows.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { Freeze } from "../freeze.js";
import { balancesOf, STILL_FROZEN } from "../journal.js";
import { withSecondPerson } from "../second-person.js";
import { isOfOperators } from "../values/actor.js";
import type { AccountId, FreezeId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Lifts one freeze of the account. */
export interface UnfreezeAccount extends Authorized {
  readonly name: "unfreezeAccount";
  readonly accountId: AccountId;
  readonly freezeId: FreezeId;
  readonly note: StatusReason;
}

const operation: Operation<UnfreezeAccount, AccountWithFreeze> = { lookup, decide, inSuspension: "of operators" };

/** An API key lifts the freezes of keys, and needs nobody else: its authority has no groups. */
export const unfreezeAccount = withSecondPerson(operation, {
  groupOf: () => "unfreeze",
  // The reason of a freeze lets the second person judge.
  changesOf: ({ organizationId, accountId, freezeId }, book) => {
    const standing = book.standingFreezes(organizationId, accountId);
    const [freeze, ...others] = [
      ...standing.filter(({ id }) => id === freezeId),
      ...standing.filter(({ id }) => id !== freezeId),
    ].map(({ reason, note }) => `${inWords(reason)}${note === "" ? "" : `: ${note}`}`);
    const still = others.join("; ");
    return changes(
      ["freeze", freeze, "lifted"],
      ["other freezes", still, still],
      ["account", "frozen", others.length === 0 ? "active" : "frozen"],
    );
  },
  touchedBy: { "account.frozen": isOfAccount, "account.unfrozen": isOfAccount },
});

function lookup({ accountId, freezeId }: UnfreezeAccount, rows: Lookup): void {
  rows.need("fullAccount", accountId);
  rows.need("freeze", freezeId);
}

/**
 * Lifts one freeze of an account. The account becomes ACTIVE with the last one. For a freeze that
 * is already lifted the decision is a replay. Only operators lift the freeze of an operator: a key
 * of the organization would undo alone what protects against its holder.
 *
 * Refuses, in this order: ACCOUNT_NOT_FOUND, FREEZE_NOT_FOUND, FREEZE_OF_OPERATOR.
 */
function decide(book: Book, command: UnfreezeAccount, now: UnixMillis): Decision<AccountWithFreeze> {
  const { organizationId, accountId, freezeId, actor, note } = command;
  const account = book.account(organizationId, accountId);
  const holder = book.accountHolder(organizationId, accountId);
  if (account === undefined || holder === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
  const freeze = book.freeze(organizationId, freezeId);
  if (freeze?.accountId !== accountId) return refuse({ reason: "FREEZE_NOT_FOUND", freezeId });
  const standing = book.standingFreezes(organizationId, accountId);
  if (freeze.lifted !== undefined) return replay({ ...accountOf(account, holder, standing), freeze });
  if (isOfOperators(freeze.createdBy) && !isOfOperators(actor))
    return refuse({ reason: "FREEZE_OF_OPERATOR", freezeId });

  const lifted: Freeze = { ...freeze, lifted: { by: actor, at: now, note } };
  const others = standing.filter(({ id }) => id !== freezeId);
  const active = others.length === 0 ? ({ status: "ACTIVE", statusNote: note } as const) : {};
  const changed: LedgerAccount = { ...account, ...active, updatedAt: now };
  return {
    kind: "effect",
    resource: { ...accountOf(changed, holder, others), freeze: lifted },
    effect: {
      entries: [
        {
          organizationId,
          accountId,
          transactionId: undefined,
          freezeId,
          kind: "account.unfrozen",
          posting: undefined,
          balancesAfter: balancesOf(account),
          // The kind alone does not say whether the account is ACTIVE again.
          detail: others.length === 0 ? undefined : STILL_FROZEN,
          actor,
          reason: note,
          recordedAt: now,
        },
      ],
      puts: [
        { table: "accounts", row: changed },
        { table: "freezes", row: lifted },
      ],
    },
  };
}
