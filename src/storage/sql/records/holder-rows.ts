import type { Account, AccountHolder, Person } from "../../../domain/account.js";
import { type EmailAddress, NO_EMAIL } from "../../../domain/values/email-address.js";
import type { AccountId } from "../../../domain/values/ids.js";
import type { PhoneNumber } from "../../../domain/values/phone-number.js";
import type { UserId } from "../../../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import { ACCOUNT_HOLDERS } from "../../../model/accounts.js";
import { changedNamesOf, type RowOf } from "../../../model/column.js";
import { blindIndexOf, decryptPersonal, encryptPersonal } from "../../secrets/personal-data.js";
import type { OpenBook } from "../book-directory.js";
import type { RowPlace, Table } from "../table.js";
import { type AccountRow, ledgerAccountOf } from "./account-rows.js";
import { standingFreezesOf, type StandingFreezesRow } from "./freeze-rows.js";

/** A row of `account_holders`. After an erasure all columns from user_id on are null. */
type HolderRow<Bytes = Buffer> = RowOf<typeof ACCOUNT_HOLDERS, Bytes>;

/** The columns of a holder that a read of an account joins. */
type PersonRow = Pick<HolderRow<Uint8Array>, "user_id" | "phone_number" | "email">;

/** A row of `accounts` with the columns that make a whole account. */
export type FullAccountRow = AccountRow & PersonRow & StandingFreezesRow;

export const HOLDER_TABLE: Table<AccountHolder, HolderRow> = {
  name: "account_holders",
  key: "account_id",
  insertedRow: holderRowOf,
  reads: ({ table, within }, { list, keyed, used }) => [
    {
      finders: ["accountHolder", "idempotencyKeyOfAccount", "accountOfUser"],
      sql: `
        SELECT * FROM ${table("account_holders")}
        WHERE ${within("account_id", `${list} UNION ALL ${keyed} UNION ALL ${used}`)}`,
    },
  ],
  rowOf: holderOf,
  updates: [
    {
      sets: ["is_open"],
      fits: (before, after) => before.person === after.person,
      updatedRow: ({ accountId, isOpen }) => ({ account_id: accountId, is_open: isOpen ? 1 : 0 }),
    },
    { sets: changedNamesOf(ACCOUNT_HOLDERS) },
  ],
};

export function fullAccountOf(row: FullAccountRow, book: OpenBook): Account {
  const account = ledgerAccountOf(row, book);
  return { ...account, person: personOf(row, book, account.id), freezes: standingFreezesOf(row, book) };
}

function holderOf(row: HolderRow, book: OpenBook): AccountHolder {
  const accountId = row.account_id as AccountId;
  return {
    accountId,
    organizationId: book.organizationId,
    person: personOf(row, book, accountId),
    isOpen: row.is_open === 1,
    phoneNumberChangedAt: timeOf(row.phone_number_changed_at),
    emailChangedAt: timeOf(row.email_changed_at),
  };
}

function timeOf(millis: number | null): UnixMillis | undefined {
  return millis === null ? undefined : toUnixMillis(millis);
}

/** Decrypts the personal data. Throws if it was changed, or belongs to another account. */
function personOf(row: PersonRow, { organizationId, keys }: OpenBook, accountId: AccountId): Person | undefined {
  const { user_id: userId, phone_number: phoneNumber, email } = row;
  if (userId === null || phoneNumber === null || email === null) return undefined;
  const place = { organizationId, ownerId: accountId };
  return {
    userId: userId as UserId,
    phoneNumber: decryptPersonal(keys, { ...place, field: "phone_number" }, phoneNumber) as PhoneNumber,
    email: decryptPersonal(keys, { ...place, field: "email" }, email) as EmailAddress,
  };
}

/** The columns of a holder after an erasure. */
const NO_PERSON = {
  user_id: null,
  phone_number: null,
  phone_number_index: null,
  phone_number_changed_at: null,
  email: null,
  email_index: null,
  email_changed_at: null,
  content_salt: null,
} as const satisfies Partial<HolderRow>;

/**
 * Encrypts the personal data. One batch may create an account and erase it: then the row never
 * holds any.
 */
function holderRowOf(holder: AccountHolder, { book, seq, facts }: RowPlace): HolderRow<string> {
  const { accountId, organizationId, person } = holder;
  const row = { account_id: accountId, book: book.number, seq, is_open: holder.isOpen ? 1 : 0 };
  if (person === undefined) return { ...row, ...NO_PERSON };
  const { userId, phoneNumber, email } = person;
  const place = { organizationId, ownerId: accountId };
  return {
    ...row,
    user_id: userId,
    phone_number: encryptPersonal(book.keys, { ...place, field: "phone_number" }, phoneNumber).toString("hex"),
    phone_number_index: blindIndexOf(book.keys, "phone_number", phoneNumber).toString("hex"),
    phone_number_changed_at: holder.phoneNumberChangedAt ?? null,
    email: encryptPersonal(book.keys, { ...place, field: "email" }, email).toString("hex"),
    email_index: email === NO_EMAIL ? null : blindIndexOf(book.keys, "email", email).toString("hex"),
    email_changed_at: holder.emailChangedAt ?? null,
    content_salt: facts.personSaltOf(accountId),
  };
}

/** Returns the fields of a new account's holder that the content hash covers. */
export function contentOfPerson({ userId, phoneNumber, email }: Person): readonly string[] {
  return [userId, phoneNumber, email];
}
