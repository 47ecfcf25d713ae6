import type { ACCOUNT_HOLDERS, ACCOUNTS } from "../../../model/accounts.js";
import type { RowOf } from "../../../model/column.js";
import { blindIndexOf } from "../../../storage/secrets/personal-data.js";
import type { AuditedBook, BookSecrets } from "../book.js";
import { checkHash, decryptedIn, type HashedRow, SALT_BYTES } from "../content.js";

/** The columns of `account_holders` with personal data. */
const PERSONAL = [
  "user_id",
  "phone_number",
  "phone_number_index",
  "phone_number_changed_at",
  "email",
  "email_index",
  "email_changed_at",
  "content_salt",
] as const satisfies readonly (keyof RowOf<typeof ACCOUNT_HOLDERS>)[];

/** A row of `accounts` with its row of `account_holders`. */
export type AuditedAccountRow = RowOf<typeof ACCOUNTS> &
  Pick<RowOf<typeof ACCOUNT_HOLDERS>, "is_open" | (typeof PERSONAL)[number]> & {
    /** Null if the account has no holder. */
    readonly holder_seq: number | null;
  };

/** What the journal says about the account of a holder. */
interface HolderFacts {
  readonly book: AuditedBook;
  /** The row that created the account. */
  readonly created: HashedRow | undefined;
  /** The last row that changed the personal data. */
  readonly updated: HashedRow | undefined;
  readonly erased: HashedRow | undefined;
  readonly isClosed: boolean;
  /** The times of the last changes, by the journal. */
  readonly changedAt: { readonly phoneNumber: number | undefined; readonly email: number | undefined };
}

/**
 * Checks the personal data of one account: it hashes to the row that created or last updated the
 * account, and it is absent if and only if a row says that it was erased. Returns whether it was
 * erased.
 */
export function checkHolder(holder: AuditedAccountRow, facts: HolderFacts): boolean {
  const { book, created, updated, erased, isClosed, changedAt } = facts;
  const { findings, secrets } = book;
  const { id, holder_seq: seq } = holder;
  const place = { seq: created?.seq ?? seq ?? undefined, table: "account_holders", id } as const;
  if (!findings.isThere(place, seq, "a row")) return false;
  if (created !== undefined) findings.compareFields(place, { seq: [created.seq, seq] });
  findings.compareFields(place, { is_open: [isClosed ? 0 : 1, holder.is_open] });
  const present = PERSONAL.filter((name) => holder[name] !== null);
  if (erased !== undefined) {
    if (present.length === 0) return true;
    const expected = `no personal data after the erasure at seq ${String(erased.seq)}`;
    findings.add({ ...place, seq: erased.seq }, { expected, found: present.join(", ") });
    return false;
  }
  if (present.length === 0) {
    findings.add(place, { expected: "personal data, because no row erased it", found: "none" });
    return false;
  }
  if (secrets === undefined) return false;

  const { content, problems } = personalData(holder, book, secrets);
  for (const problem of problems) findings.add(place, problem);
  findings.compareFields(place, {
    phone_number_changed_at: [changedAt.phoneNumber ?? null, holder.phone_number_changed_at],
    email_changed_at: [changedAt.email ?? null, holder.email_changed_at],
  });
  const covering = updated ?? created;
  if (covering === undefined || problems.length > 0) return false;
  checkHash(
    book,
    covering,
    { accountId: id, created: content, salt: holder.content_salt },
    {
      place,
      expected: "the personal data that gives the content_hash of the journal row",
      found: "other data, another content_salt or another content_hash",
    },
  );
  return false;
}

interface PersonalData {
  /** The fields that the `content_hash` covers. */
  readonly content: readonly string[];
  /** They never contain the data. */
  readonly problems: readonly { readonly expected: string; readonly found: string }[];
}

function personalData(holder: AuditedAccountRow, book: AuditedBook, { keys }: BookSecrets): PersonalData {
  const { id, user_id: userId, content_salt: salt } = holder;
  const problems: { readonly expected: string; readonly found: string }[] = [];
  if (userId === null) problems.push({ expected: "a user_id", found: "none" });
  if (salt?.length !== SALT_BYTES) {
    problems.push({ expected: `a content_salt of ${String(SALT_BYTES)} bytes`, found: "another value" });
  }
  const texts = (["phone_number", "email"] as const).map((field) => {
    const value = decryptedIn(book, { ownerId: id, field }, holder[field]);
    if (value === undefined) {
      problems.push({ expected: `${field} that the book's key decrypts`, found: "another value" });
      return "";
    }
    // A user without an e-mail address has no blind index of it.
    const expected = value === "" && field === "email" ? undefined : blindIndexOf(keys, field, value);
    if (holder[`${field}_index`]?.toString("hex") !== expected?.toString("hex")) {
      problems.push({ expected: `the blind index of the ${field}`, found: "another value" });
    }
    return value;
  });
  return { content: [userId ?? "", ...texts], problems };
}
