import { type Account, type AccountHolder, accountOf, etagOf, type LedgerAccount } from "../account.js";
import type { Commanded } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { balancesOf } from "../journal.js";
import type { AccountId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

export interface CloseAccount extends Commanded {
  readonly name: "closeAccount";
  readonly accountId: AccountId;
  readonly note: StatusReason;
  /** The version that the caller wants to close. Undefined closes any. */
  readonly etag: string | undefined;
}

export const closeAccount: Operation<CloseAccount, Account> = { lookup, decide, inSuspension: "of operators" };

function lookup({ accountId }: CloseAccount, rows: Lookup): void {
  rows.need("fullAccount", accountId);
}

/**
 * Closes an account. If it is already closed, the decision is a replay.
 *
 * Refuses, in this order: ACCOUNT_NOT_FOUND, ETAG_MISMATCH, INVALID_TRANSITION (from FROZEN),
 * ACCOUNT_NOT_EMPTY, ACCOUNT_HAS_OPEN_TRANSACTIONS.
 */
function decide(book: Book, command: CloseAccount, now: UnixMillis): Decision<Account> {
  const { organizationId, accountId } = command;
  const account = book.account(organizationId, accountId);
  const holder = book.accountHolder(organizationId, accountId);
  if (account === undefined || holder === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
  const freezes = book.standingFreezes(organizationId, accountId);
  const { status, availableCents, heldCents, openPayments } = account;
  if (status === "CLOSED") return replay(accountOf(account, holder, freezes));
  const etag = etagOf(account);
  if (command.etag !== undefined && command.etag !== etag) return refuse({ reason: "ETAG_MISMATCH", etag });
  if (status === "FROZEN") return refuse({ reason: "INVALID_TRANSITION", from: status, to: "CLOSED" });
  if (availableCents > 0 || heldCents > 0) {
    return refuse({ reason: "ACCOUNT_NOT_EMPTY", accountId, availableCents, heldCents });
  }
  // A mint on its way has no hold, but its shillings may come in.
  if (openPayments > 0) return refuse({ reason: "ACCOUNT_HAS_OPEN_TRANSACTIONS", accountId, openPayments });

  const changed: LedgerAccount = { ...account, status: "CLOSED", statusNote: command.note, updatedAt: now };
  const closed: AccountHolder = { ...holder, isOpen: false };
  return {
    kind: "effect",
    resource: accountOf(changed, closed, freezes),
    effect: {
      entries: [
        {
          organizationId,
          accountId,
          transactionId: undefined,
          freezeId: undefined,
          kind: "account.closed",
          posting: undefined,
          balancesAfter: balancesOf(account),
          actor: command.actor,
          reason: command.note,
          recordedAt: now,
        },
      ],
      puts: [
        { table: "accounts", row: changed },
        { table: "accountHolders", row: closed },
      ],
    },
  };
}
