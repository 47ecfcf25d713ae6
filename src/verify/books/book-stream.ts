import type { OrganizationId } from "../../domain/values/ids.js";
import { type BookKeys, RowSalts, unwrapBookKeys, WrongMasterKeyError } from "../../storage/secrets/book-keys.js";
import type { RowStream, Snapshot } from "../../storage/sql/snapshot.js";
import type { Audit } from "../audit.js";
import type { BookFindings } from "../findings.js";

/**
 * A row of `books` with its organization and its keys. The sums are text, because a driver rounds
 * large numbers.
 */
export interface BookRow {
  readonly number: number;
  readonly organization_id: string;
  readonly state: string;
  readonly suspended_seq: number | null;
  readonly last_seq: number;
  readonly last_recorded_at: number;
  readonly reserve_cents: string;
  readonly shortfall_cents: string;
  readonly available_cents: string;
  readonly held_cents: string;
  readonly unallocated_cents: string;
  /** Null if the organization does not exist. */
  readonly name: string | null;
  readonly is_sandbox: number | null;
  readonly created_at: number | null;
  /** Null if the book has no keys. */
  readonly master_key_id: string | null;
  readonly data_key: Buffer;
  readonly index_key: Buffer;
  readonly seal_secret: Buffer;
}

/** A book, and the keys that check the content of its rows. */
export interface AuditedBook {
  readonly row: BookRow;
  /** Undefined if the keys cannot be decrypted. Then no content of the book can be checked. */
  readonly secrets: BookSecrets | undefined;
  /** Says why there are no secrets. */
  readonly secretsProblem: string | undefined;
  readonly findings: BookFindings;
}

export interface BookSecrets {
  readonly keys: BookKeys;
  /** The salts of the rows' content hashes. */
  readonly salts: RowSalts;
}

/** Reads the books in the order of their numbers, one at a time. */
export class BookStream {
  readonly #rows: RowStream<BookRow>;
  readonly #audit: Audit;
  #next: Promise<BookRow | undefined> | undefined;
  #current: AuditedBook | undefined;

  constructor(audit: Audit) {
    this.#rows = audit.snapshot.rows(sqlOf(audit.snapshot));
    this.#audit = audit;
  }

  /** Returns the book, or undefined if there is none. The number must not fall between calls. */
  async at(number: number): Promise<AuditedBook | undefined> {
    if (this.#current?.row.number === number) return this.#current;
    for (;;) {
      const row = await (this.#next ??= this.#rows.next());
      if (row === undefined || row.number > number) return undefined;
      this.#next = undefined;
      if (row.number === number) return (this.#current = this.#open(row));
    }
  }

  #open(row: BookRow): AuditedBook {
    const findings = this.#audit.findings.of(row.organization_id);
    try {
      const keys = this.#keysOf(row);
      return { row, secrets: { keys, salts: new RowSalts(keys) }, secretsProblem: undefined, findings };
    } catch (error) {
      if (!(error instanceof WrongMasterKeyError)) throw error;
      return { row, secrets: undefined, secretsProblem: error.message, findings };
    }
  }

  #keysOf({ master_key_id: id, ...row }: BookRow): BookKeys {
    if (id === null) throw new WrongMasterKeyError("none");
    return unwrapBookKeys(this.#audit.masterKeys(), row.organization_id as OrganizationId, {
      ...row,
      master_key_id: id,
    });
  }
}

function sqlOf({ table }: Snapshot): string {
  const sums = ["reserve_cents", "shortfall_cents", "available_cents", "held_cents", "unallocated_cents"];
  return `
    SELECT b.number, b.organization_id, b.state, b.suspended_seq, b.last_seq, b.last_recorded_at,
      ${sums.map((sum) => `CAST(b.${sum} AS TEXT) AS ${sum}`).join(", ")},
      o.name, o.is_sandbox, o.created_at, k.master_key_id, k.data_key, k.index_key, k.seal_secret
    FROM ${table("books")} b
    LEFT JOIN ${table("organizations")} o ON o.id = b.organization_id
    LEFT JOIN ${table("book_keys")} k ON k.book = b.number
    ORDER BY b.number`;
}
