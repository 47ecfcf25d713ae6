import type { AccountId, OrganizationId } from "../../../domain/values/ids.js";
import type { BookKeys } from "../../../storage/secrets/book-keys.js";
import { blindIndexOf, decryptPersonal, type PersonalField } from "../../../storage/secrets/personal-data.js";
import type { AuditedBook } from "../book.js";
import { type HashedRow, hasSaltedHashOf } from "../content.js";

/** A row of `account_holders`. `id` is the id of its account. */
export interface AuditedHolderRow {
  readonly id: string;
  readonly seq: number;
  readonly is_open: number;
  readonly user_id: string | null;
  readonly phone_number: Buffer | null;
  readonly phone_number_index: Buffer | null;
  readonly phone_number_changed_at: number | null;
  readonly email: Buffer | null;
  readonly email_index: Buffer | null;
  readonly email_changed_at: number | null;
  readonly content_salt: Buffer | null;
}

const SALT_BYTES = 16;

/** What the journal says about the account of a holder. */
export interface HolderFacts {
  /** The id of the account. */
  readonly id: string;
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
export function checkHolder(holder: AuditedHolderRow | undefined, facts: HolderFacts): boolean {
  const { id, book, created, updated, erased, isClosed, changedAt } = facts;
  const { findings, secrets, row } = book;
  const place = { seq: created?.seq ?? holder?.seq, table: "account_holders", id } as const;
  if (holder === undefined) {
    findings.add(place, { expected: "a row", found: "none" });
    return false;
  }
  if (created !== undefined) findings.compareFields(place, { seq: [created.seq, holder.seq] });
  findings.compareFields(place, { is_open: [isClosed ? 0 : 1, holder.is_open] });
  const { user_id, phone_number, phone_number_index, phone_number_changed_at, email, email_index, email_changed_at } =
    holder;
  const columns = {
    user_id,
    phone_number,
    phone_number_index,
    phone_number_changed_at,
    email,
    email_index,
    email_changed_at,
    content_salt: holder.content_salt,
  };
  const present = Object.entries(columns).flatMap(([name, value]) => (value === null ? [] : [name]));
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

  const person = new PersonalData(holder, { keys: secrets.keys, organizationId: row.organization_id });
  for (const problem of person.problems) findings.add(place, problem);
  findings.compareFields(place, {
    phone_number_changed_at: [changedAt.phoneNumber ?? null, holder.phone_number_changed_at],
    email_changed_at: [changedAt.email ?? null, holder.email_changed_at],
  });
  const covering = updated ?? created;
  if (covering === undefined || person.problems.length > 0) return false;
  const content = { accountId: id, transactionId: null, created: person.content };
  if (!hasSaltedHashOf(content, covering, holder.content_salt?.toString("hex") ?? "")) {
    findings.add(place, {
      expected: "the personal data that gives the content_hash of the journal row",
      found: "other data, another content_salt or another content_hash",
    });
  }
  return false;
}

/** The decrypted data of a holder. The problems never contain it. */
class PersonalData {
  readonly problems: { readonly expected: string; readonly found: string }[] = [];
  /** The fields that the `content_hash` covers. */
  readonly content: readonly string[];
  readonly #holder: AuditedHolderRow;
  readonly #keys: BookKeys;
  readonly #organizationId: string;

  constructor(holder: AuditedHolderRow, { keys, organizationId }: { keys: BookKeys; organizationId: string }) {
    this.#holder = holder;
    this.#keys = keys;
    this.#organizationId = organizationId;
    const { user_id: userId, phone_number: phoneNumber, email, content_salt: salt } = holder;
    if (userId === null) this.#add("a user_id", "none");
    if (salt?.length !== SALT_BYTES) this.#add(`a content_salt of ${String(SALT_BYTES)} bytes`, "another value");
    this.content = [
      userId ?? "",
      this.#decrypted("phone_number", phoneNumber, holder.phone_number_index),
      this.#decrypted("email", email, holder.email_index),
    ];
  }

  #decrypted(field: PersonalField, sealed: Buffer | null, index: Buffer | null): string {
    const place = {
      organizationId: this.#organizationId as OrganizationId,
      ownerId: this.#holder.id as AccountId,
      field,
    };
    let value: string;
    try {
      if (sealed === null) throw new TypeError("NULL");
      value = decryptPersonal(this.#keys, place, sealed);
    } catch {
      this.#add(`${field} that the book's key decrypts`, "another value");
      return "";
    }
    // A user without an e-mail address has no blind index of it.
    const expected = value === "" && field === "email" ? undefined : blindIndexOf(this.#keys, field, value);
    if (index?.toString("hex") !== expected?.toString("hex")) {
      this.#add(`the blind index of the ${field}`, "another value");
    }
    return value;
  }

  #add(expected: string, found: string): void {
    this.problems.push({ expected, found });
  }
}
