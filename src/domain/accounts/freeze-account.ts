import { accountOf, type AccountWithFreeze, type LedgerAccount } from "../account.js";
import type { Commanded } from "../authority.js";
import {
  type Book,
  type Decision,
  type Lookup,
  type Operation,
  putIdempotencyKey,
  refuse,
  replay,
} from "../decision.js";
import { type Freeze, type FreezeReason, STANDING_FREEZES_MAX } from "../freeze.js";
import { balancesOf } from "../journal.js";
import { type Comparison, decideRepeat } from "../repeat.js";
import type { AccountId, FreezeId } from "../values/ids.js";
import { type IdempotencyKey, NO_REASON, type StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Adds a freeze to the account. */
export interface FreezeAccount extends Commanded {
  readonly name: "freezeAccount";
  readonly newFreezeId: FreezeId;
  readonly accountId: AccountId;
  readonly reason: FreezeReason;
  readonly note: StatusReason;
  readonly idempotencyKey: IdempotencyKey | undefined;
}

export const freezeAccount: Operation<FreezeAccount, AccountWithFreeze> = {
  lookup,
  decide,
  inSuspension: "of operators",
};

function lookup({ organizationId, accountId, idempotencyKey }: FreezeAccount, rows: Lookup): void {
  rows.need("fullAccount", accountId);
  if (idempotencyKey !== undefined) rows.need("idempotencyKeyOfFreeze", { organizationId, name: idempotencyKey });
}

/**
 * Adds a freeze to an account. The account is FROZEN while at least one freeze stands. Only the
 * idempotency key makes a replay: two freezes with the same words are two freezes, because each has
 * to be lifted.
 *
 * Refuses, in this order: IDEMPOTENCY_KEY_REUSED, ACCOUNT_NOT_FOUND, ACCOUNT_CLOSED,
 * TOO_MANY_FREEZES.
 */
function decide(book: Book, command: FreezeAccount, now: UnixMillis): Decision<AccountWithFreeze> {
  const { organizationId, accountId, idempotencyKey } = command;
  const account = book.account(organizationId, accountId);
  const holder = book.accountHolder(organizationId, accountId);
  const freezes = book.standingFreezes(organizationId, accountId);

  const repeated = decideRepeat(
    COMPARISON,
    { book, command, now },
    { withId: (id) => book.freeze(organizationId, id as FreezeId) },
  );
  if (repeated?.kind === "refusal") return repeated;
  if (account === undefined || holder === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
  if (repeated !== undefined) return replay({ ...accountOf(account, holder, freezes), freeze: repeated.resource });
  if (account.status === "CLOSED") return refuse({ reason: "ACCOUNT_CLOSED", accountId });
  if (freezes.length >= STANDING_FREEZES_MAX) {
    return refuse({ reason: "TOO_MANY_FREEZES", accountId, limit: STANDING_FREEZES_MAX });
  }

  const freeze: Freeze = {
    id: command.newFreezeId,
    organizationId,
    accountId,
    reason: command.reason,
    note: command.note,
    createdBy: command.actor,
    createdAt: now,
    lifted: undefined,
  };
  const frozen: LedgerAccount = { ...account, status: "FROZEN", statusNote: NO_REASON, updatedAt: now };
  return {
    kind: "effect",
    resource: { ...accountOf(frozen, holder, [...freezes, freeze]), freeze },
    effect: {
      entries: [
        {
          organizationId,
          accountId,
          transactionId: undefined,
          freezeId: freeze.id,
          kind: "account.frozen",
          posting: undefined,
          balancesAfter: balancesOf(account),
          actor: command.actor,
          reason: command.note,
          recordedAt: now,
        },
      ],
      puts: [
        { table: "accounts", row: frozen },
        { table: "freezes", row: freeze },
        ...putIdempotencyKey(idempotencyKey, freeze, now),
      ],
    },
  };
}

const COMPARISON: Comparison<FreezeAccount, Freeze> = {
  accountId: ["account_id", ({ accountId }, existing) => accountId === existing.accountId],
  reason: ["reason", ({ reason }, existing) => reason === existing.reason],
  note: ["note", ({ note }, existing) => note === existing.note],
};
