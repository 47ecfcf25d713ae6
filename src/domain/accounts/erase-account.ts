import { type Account, type AccountHolder, accountOf, type LedgerAccount } from "../account.js";
import type { Authorized } from "../authority.js";
import { changes, inWords } from "../change.js";
import { isOfAccount } from "../deciding-rows.js";
import { type Book, type Decision, type Lookup, type Operation, type Put, refuse, replay } from "../decision.js";
import { balancesOf } from "../journal.js";
import { withSecondPerson } from "../second-person.js";
import type { AccountId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { removalEntry, withoutNumber } from "./remove-destination.js";

/** Erases the personal data of an account, for ever. */
export interface EraseAccount extends Authorized {
  readonly name: "eraseAccount";
  readonly accountId: AccountId;
  readonly note: StatusReason;
}

const operation: Operation<EraseAccount, Account> = { lookup, decide };

export const eraseAccount = withSecondPerson(operation, {
  groupOf: () => "erase",
  changesOf: ({ organizationId, accountId }, book) => {
    // The operation has refused an account that is not there.
    const status = inWords((book.account(organizationId, accountId) as LedgerAccount).status);
    return changes(["personal data", "kept, encrypted", "erased for ever"], ["account", status, status]);
  },
  touchedBy: { "account.frozen": isOfAccount, "account.unfrozen": isOfAccount },
});

function lookup({ accountId }: EraseAccount, rows: Lookup): void {
  rows.need("fullAccount", accountId);
  rows.need("destinationsOfAccount", accountId);
}

/**
 * Erases the personal data of an account, and removes its destinations. The account, its
 * transactions and its journal rows stay. For an account that is already erased it returns a
 * replay.
 *
 * Refuses, in this order: ACCOUNT_NOT_FOUND, ACCOUNT_NOT_EMPTY, ACCOUNT_HAS_OPEN_TRANSACTIONS.
 */
function decide(book: Book, command: EraseAccount, now: UnixMillis): Decision<Account> {
  const { organizationId, accountId } = command;
  const account = book.account(organizationId, accountId);
  const holder = book.accountHolder(organizationId, accountId);
  if (account === undefined || holder === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
  const freezes = book.standingFreezes(organizationId, accountId);
  if (holder.person === undefined) return replay(accountOf(account, holder, freezes));
  const { availableCents, heldCents, openPayments } = account;
  if (availableCents > 0 || heldCents > 0) {
    return refuse({ reason: "ACCOUNT_NOT_EMPTY", accountId, availableCents, heldCents });
  }
  if (openPayments > 0) return refuse({ reason: "ACCOUNT_HAS_OPEN_TRANSACTIONS", accountId, openPayments });

  const destinations = book.destinations(organizationId, accountId);
  const changed: LedgerAccount = { ...account, updatedAt: now };
  const erased: AccountHolder = {
    ...holder,
    person: undefined,
    phoneNumberChangedAt: undefined,
    emailChangedAt: undefined,
  };
  return {
    kind: "effect",
    resource: accountOf(changed, erased, freezes),
    effect: {
      entries: [
        {
          organizationId,
          accountId,
          transactionId: undefined,
          freezeId: undefined,
          kind: "account.erased",
          posting: undefined,
          balancesAfter: balancesOf(account),
          actor: command.actor,
          reason: command.note,
          recordedAt: now,
        },
        ...destinations.map((each) => removalEntry(each, { account, actor: command.actor, now })),
      ],
      puts: [
        { table: "accounts", row: changed },
        { table: "accountHolders", row: erased },
        ...destinations.map((each): Put => ({ table: "destinations", row: withoutNumber(each, now) })),
      ],
    },
  };
}
