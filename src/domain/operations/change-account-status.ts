import { type Account, type AccountHolder, accountOf, type AccountStatus, type LedgerAccount } from "../account.js";
import type { ChangeAccountStatus } from "../commands.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { balancesOf, type JournalKind } from "../journal.js";
import type { Refusal } from "../refusal.js";
import type { UnixMillis } from "../values/time.js";

const CHANGES = {
  freezeAccount: { to: "FROZEN", kind: "account.frozen" },
  unfreezeAccount: { to: "ACTIVE", kind: "account.unfrozen" },
  closeAccount: { to: "CLOSED", kind: "account.closed" },
} as const satisfies Record<ChangeAccountStatus["name"], { to: AccountStatus; kind: JournalKind }>;

export const changeAccountStatus: Operation<ChangeAccountStatus, Account> = { lookup, decide };

function lookup({ accountId }: ChangeAccountStatus, rows: Lookup): void {
  rows.accountHolder(accountId);
}

/**
 * Freezes, unfreezes or closes an account. If the account already has the status, the decision is a
 * replay.
 *
 * Refuses, in this order: ACCOUNT_NOT_FOUND, ACCOUNT_CLOSED. Closing also refuses, in this order:
 * INVALID_TRANSITION (from FROZEN), ACCOUNT_NOT_EMPTY.
 */
function decide(book: Book, command: ChangeAccountStatus, now: UnixMillis): Decision<Account> {
  const account = book.account(command.organizationId, command.accountId);
  const holder = book.accountHolder(command.organizationId, command.accountId);
  if (account === undefined || holder === undefined)
    return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId: command.accountId });

  const { to, kind } = CHANGES[command.name];
  if (account.status === to) return replay(accountOf(account, holder));
  const refusal = refusalToChange(account, to);
  if (refusal !== undefined) return refuse(refusal);

  const changed: LedgerAccount = { ...account, status: to, statusReason: command.reason, updatedAt: now };
  const closed: AccountHolder | undefined = to === "CLOSED" ? { ...holder, isOpen: false } : undefined;
  return {
    kind: "effect",
    resource: accountOf(changed, holder),
    effect: {
      entries: [
        {
          organizationId: account.organizationId,
          accountId: account.id,
          transactionId: undefined,
          kind,
          posting: undefined,
          balancesAfter: balancesOf(account),
          actor: command.actor,
          reason: command.reason,
          recordedAt: now,
        },
      ],
      puts: [
        { table: "accounts", row: changed },
        ...(closed === undefined ? [] : [{ table: "accountHolders", row: closed } as const]),
      ],
    },
  };
}

function refusalToChange(account: LedgerAccount, to: AccountStatus): Refusal | undefined {
  const { id: accountId, status, availableCents, heldCents } = account;
  if (status === "CLOSED") return { reason: "ACCOUNT_CLOSED", accountId };
  if (to !== "CLOSED") return undefined;
  if (status === "FROZEN") return { reason: "INVALID_TRANSITION", from: status, to };
  if (availableCents > 0 || heldCents > 0) {
    return { reason: "ACCOUNT_NOT_EMPTY", accountId, availableCents, heldCents };
  }
  return undefined;
}
