import { type Account, type AccountHolder, accountOf, etagOf, type LedgerAccount, type Person } from "../account.js";
import type { Commanded } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { balancesOf } from "../journal.js";
import type { EmailAddress } from "../values/email-address.js";
import type { AccountId } from "../values/ids.js";
import type { PhoneNumber } from "../values/phone-number.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";
import { effectOfLook, refusalToLook } from "./reveal-account.js";

/** Changes the personal data of an account. Undefined leaves a field as it is. */
export interface UpdateAccount extends Commanded {
  readonly name: "updateAccount";
  readonly accountId: AccountId;
  readonly phoneNumber: PhoneNumber | undefined;
  readonly email: EmailAddress | undefined;
  /** The version that the caller wants to change. Undefined changes any. */
  readonly etag: string | undefined;
  /** Whether an operator gives it, who sees the values masked only. */
  readonly isOfOperator: boolean;
}

export const updateAccount: Operation<UpdateAccount, Account> = { lookup, decide, inSuspension: "of operators" };

function lookup({ accountId, actor, isOfOperator }: UpdateAccount, rows: Lookup): void {
  rows.need("fullAccount", accountId);
  if (isOfOperator) rows.need("reveals", actor);
}

/**
 * Changes the phone number, the e-mail address, or both. If the account already has the values, the
 * decision is a replay, whatever the etag: the answer of the call that set them may have been lost.
 * The journal names the changed fields, never their values.
 *
 * A replay would tell an operator that a guess is right. So for an operator the etag comes first,
 * and equal values are a look at the personal data, with its row and its limit.
 *
 * Refuses, in this order: TOO_MANY_REVEALS (of an operator, whatever the values),
 * ACCOUNT_NOT_FOUND, ACCOUNT_ERASED, ACCOUNT_CLOSED, ETAG_MISMATCH.
 */
function decide(book: Book, command: UpdateAccount, now: UnixMillis): Decision<Account> {
  const { organizationId, accountId, isOfOperator } = command;
  const tooMany = isOfOperator ? refusalToLook(book, command, now) : undefined;
  if (tooMany !== undefined) return refuse(tooMany);
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
  const isSame = !changesPhoneNumber && !changesEmail;
  if (isSame && !isOfOperator) return replay(accountOf(account, holder, freezes));
  const etag = etagOf(account);
  if (command.etag !== undefined && command.etag !== etag) return refuse({ reason: "ETAG_MISMATCH", etag });

  const changedAccount: LedgerAccount = { ...account, updatedAt: now };
  if (isSame) {
    const reason = `update: ${namesOf(givenBy(command))}` as StatusReason;
    const effect = effectOfLook(changedAccount, command, reason);
    return { kind: "effect", resource: accountOf(changedAccount, holder, freezes), effect };
  }
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

function givenBy({ phoneNumber, email }: UpdateAccount): Parameters<typeof namesOf>[0] {
  return { changesPhoneNumber: phoneNumber !== undefined, changesEmail: email !== undefined };
}

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
