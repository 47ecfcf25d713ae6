import { BOOK_ACCOUNTS, type BookAccount } from "../../domain/journal.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { RowOf } from "../../model/column.js";
import type { BOOK_MOVES } from "../../model/database.js";
import type { BOOKS } from "../../model/organizations.js";
import { balanceKeyOf } from "../../storage/secrets/balance-mac.js";
import {
  type BookKeys,
  type BookKeysRow,
  RowSalts,
  unwrapBookKeys,
  WrongMasterKeyError,
} from "../../storage/secrets/book-keys.js";
import type { Engine } from "../../storage/sql/engine.js";
import type { Audit } from "../audit.js";
import type { BookFindings } from "../findings.js";

type SumTexts = { readonly [Name in BookAccount as `${Name}_cents`]: string };

/** The columns of `books` that an audit of the book reads, but its sums. */
const OF_BOOK = [
  "number",
  "organization_id",
  "state",
  "suspended_seq",
  "receipts_required_seq",
  "reserve_rules",
  "last_seq",
  "last_recorded_at",
  "arrived_seq",
  "clock_accepted_at",
  "limits",
  "limits_since",
  "day_from",
  "day_minted_cents",
  "day_redeemed_cents",
  "month_from",
  "month_minted_cents",
  "month_redeemed_cents",
  "mac",
  "payout_list",
] as const satisfies readonly (keyof RowOf<typeof BOOKS>)[];

/**
 * A row of `books` with its organization and its keys. The sums are text, because a driver rounds
 * large numbers.
 */
export type AuditedBookRow = SumTexts &
  Pick<RowOf<typeof BOOKS>, (typeof OF_BOOK)[number]> &
  Omit<BookKeysRow, "master_key_id"> & {
    /** Where a move of the book stands. Null if it does not move. */
    readonly phase: string | null;
    /** The last seq in the journal. Null if the book has no row there. */
    readonly head: number | null;
    /** Null if the organization does not exist. */
    readonly name: string | null;
    readonly is_sandbox: number | null;
    readonly created_at: number | null;
    readonly organization_mac: Uint8Array;
    /** Null if the book has no keys. */
    readonly master_key_id: string | null;
  };

/** A book, and the keys that check the content of its rows. */
export interface AuditedBook {
  readonly row: AuditedBookRow;
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
  readonly balanceKey: string;
}

/**
 * Returns the book with the next number, or undefined after the last one. Passes over a book whose
 * rows are being copied into this cell, or removed from it.
 */
export async function nextBook(audit: Audit, after: number): Promise<AuditedBook | undefined> {
  const { engine, organizationId } = audit;
  const one = organizationId === undefined ? [] : [organizationId];
  const [row] = await audit.rows<AuditedBookRow>(sqlOf(engine, one.length > 0), [after, ...one]);
  return row === undefined ? undefined : open(audit, row);
}

function open(audit: Audit, row: AuditedBookRow): AuditedBook {
  const findings = audit.findings.of(row.organization_id);
  try {
    const keys = keysOf(audit, row);
    const secrets = { keys, salts: new RowSalts(keys), balanceKey: balanceKeyOf(keys) };
    return { row, secrets, secretsProblem: undefined, findings };
  } catch (error) {
    if (!(error instanceof WrongMasterKeyError)) throw error;
    return { row, secrets: undefined, secretsProblem: error.message, findings };
  }
}

function keysOf({ masterKeys }: Audit, { master_key_id: id, ...row }: AuditedBookRow): BookKeys {
  if (id === null) throw new WrongMasterKeyError("none");
  return unwrapBookKeys(masterKeys(), row.organization_id as OrganizationId, { ...row, master_key_id: id });
}

/** A book that is hidden in this way takes no commands, and its keys are not valid. */
const HAS_ALL_ROWS = `NOT (COALESCE(m.phase, '') = 'COPYING' AND b.state = 'MOVING')
      AND NOT (COALESCE(m.phase, '') IN ('EMPTYING', 'EMPTIED') AND b.state = 'MOVED')`;

type PassedOverRow = Pick<RowOf<typeof BOOKS>, "organization_id" | "last_seq" | "arrived_seq"> &
  Pick<RowOf<typeof BOOK_MOVES>, "phase" | "changed_at"> &
  Readonly<Record<"head" | "used_at", number | null>>;

/**
 * Notes the books that were passed over. Adds a finding for each that cannot be on its way: an
 * import notes the last row in `arrived_seq`, nobody can use the keys of such a book, and a book
 * that was emptied has no rows.
 */
export async function auditPassedOver({ engine: { table }, rows, coverage, findings }: Audit): Promise<void> {
  const found = await rows<PassedOverRow>(`
    SELECT b.organization_id, m.phase, m.changed_at, b.last_seq, b.arrived_seq,
      (SELECT MAX(j.seq) FROM ${table("journal")} j WHERE j.book = b.number) AS head,
      (SELECT MAX(k.last_used_at) FROM ${table("api_keys")} k WHERE k.organization_id = b.organization_id) AS used_at
    FROM ${table("books")} b JOIN ${table("book_moves")} m ON m.book = b.number
    WHERE NOT (${HAS_ALL_ROWS}) ORDER BY b.number`);
  for (const row of found) {
    const { organization_id: organizationId, phase, changed_at: since, last_seq: lastSeq } = row;
    coverage.notAudited.push({ organizationId, phase, since });
    const place = { seq: row.head ?? undefined, table: "book_moves", id: organizationId } as const;
    const own = findings.of(organizationId);
    if (phase === "COPYING") {
      own.compareFields(place, { arrived_seq: [lastSeq, row.arrived_seq] });
      const isUsed = (row.used_at ?? 0) > since;
      if (isUsed) own.add(place, { expected: "no use of its keys while a book is copied", found: "a later use" });
    }
    if (phase === "EMPTIED" && row.head !== null) {
      own.add(place, { expected: "no rows of a book that was emptied", found: `rows up to seq ${String(row.head)}` });
    }
  }
}

/** One statement reads the row and the head of the journal, so that both are of one moment. */
function sqlOf({ table }: Engine, isOne: boolean): string {
  return `
    SELECT ${OF_BOOK.map((name) => `b.${name}`).join(", ")}, m.phase,
      (SELECT MAX(j.seq) FROM ${table("journal")} j WHERE j.book = b.number) AS head,
      ${BOOK_ACCOUNTS.map((name) => `CAST(b.${name}_cents AS TEXT) AS ${name}_cents`).join(", ")},
      o.name, o.is_sandbox, o.created_at, o.mac AS organization_mac, k.master_key_id, k.data_key, k.index_key, k.seal_secret
    FROM ${table("books")} b
    LEFT JOIN ${table("organizations")} o ON o.id = b.organization_id
    LEFT JOIN ${table("book_keys")} k ON k.book = b.number
    LEFT JOIN ${table("book_moves")} m ON m.book = b.number
    WHERE b.number > ? AND ${isOne ? "b.organization_id = ?" : HAS_ALL_ROWS}
    ORDER BY b.number LIMIT 1`;
}
