import { type Account, type AccountHolder, accountOf, etagOf, type LedgerAccount, type Person } from "../account.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { balancesOf } from "../journal.js";
import type { Commanded } from "../second-person.js";
import type { EmailAddress } from "../values/email-address.js";
import type { AccountId } from "../values/ids.js";
import type { PhoneNumber } from "../values/phone-number.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Changes the personal data of an account. Undefined leaves a field as it is. */
export interface UpdateAccount extends Commanded {
  readonly name: "updateAccount";
  readonly accountId: AccountId;
  readonly phoneNumber: PhoneNumber | undefined;
  readonly email: EmailAddress | undefined;
  /** The version that the caller wants to change. Undefined changes any. */
  readonly etag: string | undefined;
}

export const updateAccount: Operation<UpdateAccount, Account> = { lookup, decide, inSuspension: "of operators" };

function lookup({ accountId }: UpdateAccount, rows: Lookup): void {
  rows.need("fullAccount", accountId);
}

/**
 * Changes the phone number, the e-mail address, or both. If the account already has the values, the
 * decision is a replay, whatever the etag: the answer of the call that set them may have been lost.
 * The journal names the changed fields, never their values.
 *
 * Refuses, in this order: ACCOUNT_NOT_FOUND, ACCOUNT_ERASED, ACCOUNT_CLOSED, ETAG_MISMATCH.
 */
function decide(book: Book, command: UpdateAccount, now: UnixMillis): Decision<Account> {
  const { organizationId, accountId } = command;
  const account = book.account(organizationId, accountId);
  const holder = book.accountHolder(organizationId, accountId);
  if (account === undefined || holder === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
  const freezes = book.standingFreezes(organizationId, accountId);
  const { person } = holder;
  if (person === undefined) return refuse({ reason: "ACCOUNT_ERASED", accountId });
  if (account.status === "CLOSED") return refuse({ reason: "ACCOUNT_CLOSED", accountId });

  const changed: Person = {
    userId: person.userId,
    phoneNumber: command.phoneNumber ?? person.phoneNumber,
    email: command.email ?? person.email,
  };
  const changesPhoneNumber = changed.phoneNumber !== person.phoneNumber;
  const changesEmail = changed.email !== person.email;
  if (!changesPhoneNumber && !changesEmail) return replay(accountOf(account, holder, freezes));
  const etag = etagOf(account);
  if (command.etag !== undefined && command.etag !== etag) return refuse({ reason: "ETAG_MISMATCH", etag });

  const changedAccount: LedgerAccount = { ...account, updatedAt: now };
  const changedHolder: AccountHolder = {
    ...holder,
    person: changed,
    phoneNumberChangedAt: changesPhoneNumber ? now : holder.phoneNumberChangedAt,
    emailChangedAt: changesEmail ? now : holder.emailChangedAt,
  };
  return {
    kind: "effect",
    resource: accountOf(changedAccount, changedHolder, freezes),
    effect: {
      entries: [
        {
          organizationId,
          accountId,
          transactionId: undefined,
          freezeId: undefined,
          kind: "account.updated",
          posting: undefined,
          balancesAfter: balancesOf(account),
          actor: command.actor,
          reason: namesOf({ changesPhoneNumber, changesEmail }),
          recordedAt: now,
        },
      ],
      puts: [
        { table: "accounts", row: changedAccount },
        { table: "accountHolders", row: changedHolder },
      ],
    },
  };
}

/** The reason of an `account.updated` entry: the names of the changed fields. */
export const UPDATED_FIELDS = {
  phoneNumber: "phone_number" as StatusReason,
  email: "email" as StatusReason,
  both: "phone_number, email" as StatusReason,
} as const;

function namesOf({
  changesPhoneNumber,
  changesEmail,
}: {
  changesPhoneNumber: boolean;
  changesEmail: boolean;
}): StatusReason {
  if (changesPhoneNumber && changesEmail) return UPDATED_FIELDS.both;
  return changesPhoneNumber ? UPDATED_FIELDS.phoneNumber : UPDATED_FIELDS.email;
}
