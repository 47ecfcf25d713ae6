import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import {
  accountMac,
  balanceKeyOf,
  bookMac,
  type BoundAccountRow,
  type BoundBookRow,
} from "../../src/storage/secrets/balance-mac.js";
import {
  type BookKeys,
  type BookKeysRow,
  contentHash,
  RowSalts,
  unwrapBookKeys,
} from "../../src/storage/secrets/book-keys.js";
import { masterKeysIn } from "../../src/storage/secrets/master-key.js";
import { blindIndexOf, decryptPersonal, encryptPersonal } from "../../src/storage/secrets/personal-data.js";
import { proposalMac } from "../../src/storage/secrets/proposal-mac.js";
import { TEST_MASTER_KEY_FILE } from "../support/master-key.js";
import type { Unguarded } from "./unguarded.js";

type Value = string | number | Buffer | null;
export type Row = Record<string, Value>;

const TABLES = [
  "organizations",
  "api_keys",
  "books",
  "accounts",
  "account_holders",
  "freezes",
  "transactions",
  "proposals",
  "journal",
] as const;
const ASSETS = new Set<Value | undefined>(["reserve", "shortfall"]);
const SUMS = ["reserve", "shortfall", "available", "held", "unallocated"];

/** What the mac of a proposal covers, behind its organization. */
const PROPOSAL_FIELDS = [
  ...["subject", "id", "content", "person", "seq", "proposed_at", "expires_at"],
  ...["decision", "decided_by", "done_at"],
];

/**
 * Somebody with the database and the master key file, who changes rows and then recomputes every
 * seq, link, balance, sum and hash. Works on the only book of the database.
 */
export class Forger {
  readonly #tables: Readonly<Record<(typeof TABLES)[number], Row[]>>;
  readonly #keys: BookKeys;

  private constructor(tables: Readonly<Record<(typeof TABLES)[number], Row[]>>, keysRow: BookKeysRow) {
    this.#tables = tables;
    this.#keys = unwrapBookKeys(masterKeysIn(TEST_MASTER_KEY_FILE)(), this.#organizationId, keysRow);
  }

  static async at(unguarded: Unguarded): Promise<Forger> {
    const tables = {} as Record<(typeof TABLES)[number], Row[]>;
    for (const table of TABLES) tables[table] = [...(await unguarded.rows<Row>(`SELECT * FROM ${table}`))];
    const [keysRow] = await unguarded.rows<BookKeysRow>("SELECT * FROM book_keys");
    if (keysRow === undefined) throw new Error("the book has no keys");
    tables.journal.sort((left, right) => Number(left["seq"]) - Number(right["seq"]));
    return new Forger(tables, keysRow);
  }

  get #organizationId(): OrganizationId {
    return only(this.#tables.organizations)["id"] as OrganizationId;
  }

  /** The last account. */
  get lastAccount(): Row {
    const last = this.#tables.journal.findLast(({ kind }) => kind === "account.created");
    return only(this.#tables.accounts, ({ id }) => id === last?.["account_id"]);
  }

  /** The journal row that has this seq before any change. */
  row(seq: number): Row {
    return only(this.#tables.journal, (row) => row["seq"] === seq);
  }

  /** The transaction that this journal row created. */
  transaction(seq: number): Row {
    const { transaction_id: id } = this.row(seq);
    return only(this.#tables.transactions, (row) => row["id"] === id);
  }

  /** Removes the journal rows, and the transactions and accounts that they created. */
  remove(isRemoved: (row: Row) => boolean): void {
    const { journal, freezes, transactions, accounts, account_holders: holders } = this.#tables;
    const removed = journal.filter(isRemoved);
    const transactionIds = new Set(removed.map((row) => row["transaction_id"]));
    const created = removed.filter(({ kind }) => kind === "account.created");
    const accountIds = new Set(created.map((row) => row["account_id"]));
    keep(journal, (row) => !isRemoved(row));
    keep(transactions, ({ id }) => !transactionIds.has(id));
    keep(accounts, ({ id }) => !accountIds.has(id));
    keep(holders, ({ account_id: id }) => !accountIds.has(id));
    const begun = new Set(removed.filter(({ kind }) => kind === "account.frozen").map((row) => row["freeze_id"]));
    keep(freezes, ({ id }) => !begun.has(id));
    for (const { kind, account_id: updatedId } of removed) {
      const holder = holders.find(({ account_id: id }) => id === updatedId);
      if (kind === "account.updated" && holder !== undefined) holder["phone_number_changed_at"] = null;
    }
  }

  /** Adds a copy of a transaction and of its row: before another row, or at the end of the book. */
  add(seq: number, { id, reference, before }: { id: string; reference: string; before?: number }): void {
    const { journal, transactions } = this.#tables;
    const next = before === undefined ? journal.length : journal.indexOf(this.row(before));
    const now = journal[next - 1]?.["recorded_at"] ?? null;
    transactions.push({ ...this.transaction(seq), id, reference, created_at: now, updated_at: now, completed_at: now });
    journal.splice(next, 0, { ...this.row(seq), transaction_id: id, recorded_at: now });
  }

  /** Gives the account that the row created another phone number, as if it had always been that. */
  changePhoneNumber(seq: number, phoneNumber: string): void {
    const holder = only(this.#tables.account_holders, ({ account_id: id }) => id === this.row(seq)["account_id"]);
    const place = {
      organizationId: this.#organizationId,
      ownerId: holder["account_id"] as AccountId,
      field: "phone_number",
    } as const;
    holder["phone_number"] = encryptPersonal(this.#keys, place, phoneNumber);
    holder["phone_number_index"] = blindIndexOf(this.#keys, "phone_number", phoneNumber);
  }

  /** Returns the statements that replace all rows. */
  statements(): readonly string[] {
    this.#recompute();
    return TABLES.flatMap((table) => [
      `DELETE FROM ${table}`,
      ...this.#tables[table].map((row) => {
        const names = Object.keys(row).map((name) => `"${name}"`);
        return `INSERT INTO ${table} (${names.join(", ")}) VALUES (${Object.values(row).map(literalOf).join(", ")})`;
      }),
    ]);
  }

  #recompute(): void {
    const { journal, accounts, api_keys: keys } = this.#tables;
    const book = only(this.#tables.books);
    const names = (key: Row, { seq }: Row): boolean => key["seq"] === seq || key["revoked_seq"] === seq;
    const proposals = this.#tables.proposals.map((row) => ({
      row,
      changedBy: journal.find(({ seq }) => seq === row["seq"]),
    }));
    const keysByRow = new Map(journal.map((row) => [row, keys.find((key) => names(key, row))]));
    book["suspended_seq"] = null;
    for (const sum of SUMS) book[`${sum}_cents`] = 0;
    for (const account of accounts) {
      account["available_cents"] = 0;
      account["held_cents"] = 0;
      account["last_seq"] = null;
    }
    for (const [index, row] of journal.entries()) {
      const seq = index + 1;
      row["seq"] = seq;
      book["last_seq"] = seq;
      book["last_recorded_at"] = row["recorded_at"] ?? null;
      const created =
        row["account_id"] === null
          ? { created: this.#followOwn(row, seq, keysByRow.get(row)), salt: new RowSalts(this.#keys).of(seq) }
          : this.#follow(row, seq);
      const covered = [...created.created, ...this.#proofsOf(row)];
      if (!this.#coversLostData(row)) row["content_hash"] = this.#hashOf(row, { ...created, created: covered });
    }
    for (const { row, changedBy } of proposals) {
      row["seq"] = changedBy?.["seq"] ?? null;
      const fields = PROPOSAL_FIELDS.map((name) => row[name] as string | number | null);
      row["mac"] = Buffer.from(proposalMac(this.#keys, [this.#organizationId, ...fields]), "hex");
    }
    const balanceKey = balanceKeyOf(this.#keys);
    book["mac"] = bookMac(balanceKey, book as unknown as BoundBookRow);
    for (const account of accounts) account["mac"] = accountMac(balanceKey, account as unknown as BoundAccountRow);
  }

  /** Whether the hash covers data that was erased or replaced: then nobody can compute it. */
  #coversLostData(row: Row): boolean {
    const sets = ({ kind }: Row): boolean => kind === "account.created" || kind === "account.updated";
    if (!sets(row)) return false;
    const isOf = ({ account_id: id }: Row): boolean => id === row["account_id"];
    const holder = only(this.#tables.account_holders, isOf);
    return holder["content_salt"] === null || this.#tables.journal.findLast((each) => sets(each) && isOf(each)) !== row;
  }

  /** What the hash covers after what the row created. */
  #proofsOf(row: Row): string[] {
    const transaction = this.#tables.transactions.find(({ id }) => id === row["transaction_id"]);
    const movement = row["kind"] === "transaction.completed" ? transaction?.["rail_movement"] : null;
    const proofs = [row["detail"], row["rail_receipt"], movement];
    return proofs.every((proof) => proof === null) ? [] : proofs.map((proof) => String(proof ?? ""));
  }

  /** Returns the fields of what the row created, and the salt of their hash. */
  #follow(row: Row, seq: number): { created: string[]; salt: string } {
    const { journal, accounts, account_holders: holders, freezes, transactions } = this.#tables;
    const salt = new RowSalts(this.#keys).of(seq);
    const account = only(accounts, ({ id }) => id === row["account_id"]);
    row["previous_seq"] = account["last_seq"] ?? null;
    account["last_seq"] = seq;
    const transaction = transactions.find(({ id }) => id === row["transaction_id"]);
    if (row["debit"] !== null) this.#post(row, account, transaction?.["amount_cents"] ?? row["amount_cents"]);
    else if (transaction === undefined) account["updated_at"] = row["recorded_at"] ?? null;
    row["available_after_cents"] = account["available_cents"] ?? null;
    row["held_after_cents"] = account["held_cents"] ?? null;
    if (row["kind"] === "account.created") {
      account["seq"] = seq;
      const holder = only(holders, ({ account_id: id }) => id === account["id"]);
      holder["seq"] = seq;
      return this.#personOf(holder) ?? { created: [], salt };
    }
    if (row["freeze_id"] !== null) {
      const freeze = only(freezes, ({ id }) => id === row["freeze_id"]);
      if (row["kind"] === "account.frozen") freeze["seq"] = seq;
      const fields = row["kind"] === "account.frozen" ? ["id", "reason_code", "reason"] : ["id"];
      return { created: fields.map((field) => String(freeze[field])), salt };
    }
    if (row["kind"] === "account.updated") {
      const holder = only(holders, ({ account_id: id }) => id === account["id"]);
      return this.#personOf(holder) ?? { created: [], salt };
    }
    const isFirst = journal.find(({ transaction_id: id }) => id === row["transaction_id"]) === row;
    if (transaction === undefined || !isFirst) return { created: [], salt };
    transaction["seq"] = seq;
    const fields = [
      "type",
      "amount_cents",
      "reference",
      "description",
      "metadata",
      "rail",
      "correction",
      "corrects_id",
    ];
    return { created: fields.map((field) => String(transaction[field] ?? "")), salt };
  }

  /** The same for a row about the organization itself, or the key that the row names. */
  #followOwn(row: Row, seq: number, key: Row = {}): string[] {
    const textsOf = (from: Row, fields: readonly string[]): string[] =>
      fields.map((field) => String(from[field] ?? ""));
    switch (String(row["kind"])) {
      case "key.created":
        key["seq"] = seq;
        return textsOf(key, ["id", "name", "secret_sha256", "scopes", "expires_at"]);
      case "key.revoked":
        key["revoked_seq"] = seq;
        return [];
      case "organization.created":
        return textsOf(only(this.#tables.organizations), ["name", "is_sandbox"]);
      case "rail.changed":
        return [];
      case "book.proposed":
      case "book.proposal_approved":
      case "book.covered":
      case "book.returned":
      case "book.received":
      case "book.adjusted":
      case "book.transferred":
        if (row["debit"] !== null) this.#post(row, {}, row["amount_cents"]);
        return [];
      default:
        only(this.#tables.books)["suspended_seq"] = row["kind"] === "organization.suspended" ? seq : null;
        return textsOf(row, ["reason"]);
    }
  }

  #post(row: Row, account: Row, amountCents: Value | undefined): void {
    const book = only(this.#tables.books);
    row["amount_cents"] = amountCents ?? null;
    account["updated_at"] = row["recorded_at"] ?? null;
    for (const side of ["debit", "credit"]) {
      const name = `${String(row[side])}_cents`;
      const grows = (side === "debit") === ASSETS.has(row[side]);
      const change = grows ? Number(amountCents) : -Number(amountCents);
      book[name] = Number(book[name]) + change;
      if (name in account) account[name] = Number(account[name]) + change;
    }
  }

  #personOf(holder: Row): { created: string[]; salt: string } | undefined {
    const { account_id: id, user_id: userId, phone_number: phoneNumber, email, content_salt: salt } = holder;
    if (!Buffer.isBuffer(salt)) return undefined;
    const decrypted = (field: "phone_number" | "email", sealed: Value | undefined): string =>
      decryptPersonal(
        this.#keys,
        { organizationId: this.#organizationId, ownerId: id as never, field },
        sealed as Buffer,
      );
    const created = [String(userId), decrypted("phone_number", phoneNumber), decrypted("email", email)];
    return { created, salt: salt.toString("hex") };
  }

  #hashOf(row: Row, { created, salt }: { created: string[]; salt: string }): Buffer {
    const { kind, transaction_id: transactionId, account_id: accountId, recorded_at: recordedAt } = row;
    const content = {
      kind: String(kind),
      transactionId: transactionId as string | null,
      accountId: accountId as string | null,
      recordedAt: Number(recordedAt),
      created,
    };
    return Buffer.from(contentHash(salt, content), "hex");
  }
}

function only(rows: readonly Row[], is: (row: Row) => boolean = () => true): Row {
  const found = rows.find(is);
  if (found === undefined) throw new Error("there is no such row");
  return found;
}

/** Removes the other rows. */
function keep(rows: Row[], isKept: (row: Row) => boolean): void {
  rows.splice(0, rows.length, ...rows.filter(isKept));
}

function literalOf(value: Value): string {
  if (Buffer.isBuffer(value)) return `BYTES(${value.toString("hex")})`;
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value ?? "NULL");
}
