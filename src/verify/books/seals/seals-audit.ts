import { hash } from "node:crypto";

import { BOOK_ACCOUNTS } from "../../../domain/journal.js";
import type { RowOf } from "../../../model/column.js";
import type { SEAL_TILES, SEALS } from "../../../model/seals.js";
import { isSignedBy, keysOfLog, parseSignedNote } from "../../../seals/note.js";
import { type RowSalts, textSalts } from "../../../storage/secrets/book-keys.js";
import type { Audit } from "../../audit.js";
import { post } from "../../format.js";
import { type Head, sealsOf } from "../../heads.js";
import { slices } from "../../slices.js";
import type { AuditedBook } from "../book.js";
import type { AuditedJournalRow } from "../journal-rows.js";
import { PublishedCheck } from "./published-check.js";
import { GrowingTree } from "./tree.js";

/** With bytes in hexadecimal. */
type AuditedSealRow = Pick<RowOf<typeof SEALS, string>, "size" | "root" | "note"> & { readonly sums: string };

type TileRow = Pick<RowOf<typeof SEAL_TILES, string>, "hashes">;

const TILE_HASHES = 256;
/** 256^6 rows are more than a sequence can count. */
const LEVELS_MAX = 6;
const HEX_CHARACTERS = 64;

/**
 * Computes the tree over the rows of a book again. Compares it with each seal, with the stored
 * tiles and with a published copy.
 */
export class SealsAudit {
  readonly table = "seals";
  readonly #audit: Audit;
  readonly #book: AuditedBook;
  /** Undefined without the keys of the book: then no leaf can be computed. */
  readonly #salts: RowSalts | undefined;
  readonly #tree: GrowingTree;
  readonly #published: PublishedCheck | undefined;
  readonly #seals: AsyncGenerator<readonly AuditedSealRow[], void, void>;
  #slice: readonly AuditedSealRow[] = [];
  #next = 0;
  readonly #sums: Record<string, bigint> = Object.fromEntries(BOOK_ACCOUNTS.map((sum) => [sum, 0n]));
  /** The hashes of the last tile of each level from 1 on, in hexadecimal. */
  readonly #edge: string[][] = [];
  readonly #full: { readonly level: number; readonly number: number; readonly hashes: string }[] = [];
  readonly #filled: number[] = [];
  /** The seal that the heads file knows, until the audit has found it. */
  #noted: Head | undefined;
  /** The size of the newest seal, when the audit of the book began. */
  #sealedSize = 0;

  constructor(audit: Audit, book: AuditedBook) {
    this.#audit = audit;
    this.#book = book;
    this.#salts = book.secrets === undefined ? undefined : textSalts(book.secrets.keys);
    this.#tree = new GrowingTree((level, node) => {
      this.#tileNode(level, node.toString("hex"));
    });
    this.#noted = audit.notedHeads.get(sealsOf(book.row.organization_id));
    const copy = audit.seals.published?.get(book.row.organization_id);
    if (copy !== undefined) audit.coverage.publishedBooks += 1;
    if (copy?.cosignatures !== undefined)
      audit.coverage.cosignatures = (audit.coverage.cosignatures ?? 0) + copy.cosignatures;
    this.#published = copy === undefined ? undefined : new PublishedCheck(book, copy);
    this.#seals = sealSlices(audit, book);
  }

  async begin(): Promise<void> {
    const { table } = this.#audit.engine;
    const { number } = this.#book.row;
    const sql = `SELECT MAX(size) AS size FROM ${table("seals")} WHERE book = ?`;
    const [newest] = await this.#audit.rows<{ readonly size: number | null }>(sql, [number]);
    this.#sealedSize = newest?.size ?? 0;
    const alarms = await this.#audit.rows<{ readonly first_seq: number; readonly problem: string }>(
      `SELECT first_seq, problem FROM ${table("seal_alarms")} WHERE book = ? AND cleared_at IS NULL`,
      [number],
    );
    for (const { first_seq: seq, problem } of alarms) {
      this.#add(seq, "seal_alarms", { expected: "no alarm that nobody has cleared", found: problem });
    }
    this.#slice = (await this.#seals.next()).value ?? [];
  }

  async slice(rows: readonly AuditedJournalRow[]): Promise<void> {
    if (this.#salts === undefined) return;
    for (const row of rows) {
      // No such row is a leaf. The audit of the journal names it.
      if (row.seq < 1) continue;
      const leaf = leafOf(this.#book.row.organization_id, row, this.#salts);
      this.#published?.row(row.seq, leaf);
      this.#tree.add(leaf);
      post(this.#sums, row);
      while (this.#seal !== undefined && this.#seal.size <= row.seq) await this.#compareSeal(this.#seal);
      if (row.seq === this.#sealedSize) await this.#compareEdge();
    }
    for (const { level, number, hashes } of this.#full.splice(0)) await this.#compareTile(level, number, hashes);
  }

  async end(): Promise<void> {
    this.#published?.end();
    if (this.#salts !== undefined) this.#audit.coverage.roots.set(this.#book.row.organization_id, this.#tree.root());
    // A server may have sealed rows that were committed after the audit of the book began.
    const head = this.#book.row.head ?? 0;
    if (this.#seal !== undefined && this.#sealedSize > head && this.#salts !== undefined) {
      const found = `the book ends at seq ${String(head)}`;
      this.#add(head + 1, "journal", {
        expected: `the rows up to ${String(this.#sealedSize)}, which are sealed`,
        found,
      });
    }
    if (this.#noted !== undefined) {
      const { seq } = this.#noted;
      this.#add(seq, "seals", { expected: "the seal that the heads file knows", found: "none, or another one" });
    }
    await this.#compareWidths();
  }

  get #seal(): AuditedSealRow | undefined {
    return this.#slice[this.#next];
  }

  async #compareSeal({ size, root, note, sums }: AuditedSealRow): Promise<void> {
    this.#audit.coverage.seals += 1;
    const organizationId = this.#book.row.organization_id;
    if (this.#noted?.seq === size && this.#noted.contentHash === root) this.#noted = undefined;
    if (size === this.#sealedSize) {
      const head = { organizationId: sealsOf(organizationId), seq: size, contentHash: root };
      this.#audit.coverage.otherHeads.push(head);
    }
    const parsed = parseSignedNote(note);
    const { seals } = this.#audit;
    if (this.#tree.size !== size || this.#tree.root() !== root) {
      this.#add(size, "seals", { expected: "the root of the rows up to it", found: "another root" });
    }
    const isOfSeal = parsed?.size === size && Buffer.from(parsed.root).toString("hex") === root;
    if (!isOfSeal || !parsed.origin.endsWith(`/${organizationId}`)) {
      this.#add(size, "seals", { expected: "a note of this book with the size and the root", found: "another note" });
    } else if (seals.publicKeys.length > 0 && !isSignedBy(parsed, keysOfLog(seals, { organizationId, size }))) {
      this.#add(size, "seals", { expected: "a note that a key of the seal key file signed", found: "another note" });
    }
    const expected = BOOK_ACCOUNTS.map((sum) => String(this.#sums[sum])).join(" ");
    if (sums !== expected) this.#add(size, "seals", { expected: `the sums ${expected}`, found: `the sums ${sums}` });
    this.#next += 1;
    if (this.#next < this.#slice.length) return;
    this.#slice = (await this.#seals.next()).value ?? [];
    this.#next = 0;
  }

  #tileNode(level: number, node: string): void {
    const hashes = (this.#edge[level] ??= []);
    hashes.push(node);
    if (hashes.length < TILE_HASHES) return;
    const number = this.#filled[level] ?? 0;
    this.#filled[level] = number + 1;
    const isSealed = (number + 1) * TILE_HASHES ** (level + 1) <= this.#sealedSize;
    if (isSealed) this.#full.push({ level, number, hashes: hashes.join("") });
    hashes.length = 0;
  }

  /** Compares the tiles that were not full at the newest seal. */
  async #compareEdge(): Promise<void> {
    for (let level = 1; level < this.#edge.length; level++) {
      const hashes = this.#edge[level] ?? [];
      if (hashes.length > 0) {
        await this.#compareTile(level, this.#filled[level] ?? 0, hashes.join(""));
      }
    }
  }

  async #compareTile(level: number, number: number, expected: string): Promise<void> {
    const { table, hex } = this.#audit.engine;
    const sql = `
      SELECT ${hex("hashes")} AS hashes FROM ${table("seal_tiles")} WHERE book = ? AND level = ? AND number = ?`;
    const [tile] = await this.#audit.rows<TileRow>(sql, [this.#book.row.number, level, number]);
    if (tile?.hashes.startsWith(expected) === true) return;
    const seq = number * TILE_HASHES ** (level + 1) + 1;
    const found = tile === undefined ? "no tile" : "other hashes";
    this.#add(seq, "seal_tiles", {
      expected: `the tile ${String(number)} of level ${String(level)} over the rows from this one on`,
      found,
    });
  }

  /** Looks for tiles over more rows than the newest seal covers. */
  async #compareWidths(): Promise<void> {
    const { table, hex } = this.#audit.engine;
    const levels = Array.from({ length: LEVELS_MAX }, (_, index) => index + 1);
    // With a decimal point: the largest number times 256 would be out of range on PostgreSQL.
    const sql = levels
      .map(
        (level) => `
          SELECT ${String(level)} AS level, COUNT(*) AS count FROM ${table("seal_tiles")} t WHERE t.book = ? AND
            t.level = ${String(level)} AND t.number * 256.0 + length(${hex("t.hashes")}) / ${String(HEX_CHARACTERS)}
              > (SELECT COALESCE(MAX(s.size), 0) FROM ${table("seals")} s WHERE s.book = t.book)
                / ${String(TILE_HASHES ** level)}`,
      )
      .concat(
        `
          SELECT 0 AS level, COUNT(*) AS count FROM ${table("seal_tiles")} t WHERE t.book = ?
            AND t.level > ${String(LEVELS_MAX)}`,
      )
      .join(" UNION ALL ");
    const bindings = [...levels, 0].map(() => this.#book.row.number);
    for (const { level, count } of await this.#audit.rows<{ readonly level: number; readonly count: number }>(
      sql,
      bindings,
    )) {
      if (count === 0) continue;
      const found = `${String(count)} tiles of level ${String(level)} over other rows`;
      this.#add(undefined, "seal_tiles", { expected: "tiles over sealed rows", found });
    }
  }

  #add(
    seq: number | undefined,
    table: "journal" | "seals" | "seal_tiles" | "seal_alarms",
    texts: { readonly expected: string; readonly found: string },
  ): void {
    this.#book.findings.add({ seq, table, id: undefined }, texts);
  }
}

function sealSlices(
  audit: Audit,
  { row: { number } }: AuditedBook,
): AsyncGenerator<readonly AuditedSealRow[], void, void> {
  const { table, hex } = audit.engine;
  return slices<AuditedSealRow>(audit, {
    sql: `
      SELECT size, ${hex("root")} AS root, note,
        ${BOOK_ACCOUNTS.map((sum) => `CAST(${sum}_cents AS TEXT)`).join(" || ' ' || ")} AS sums
      FROM ${table("seals")} WHERE book = ?`,
    bindings: [number],
    key: "size",
    keyOf: ({ size }) => size,
  });
}

/** The columns of a leaf after the organization, up to the two hashes (docs/seals.md). */
const LEAF_COLUMNS = [
  "seq",
  "previous_seq",
  "account_id",
  "transaction_id",
  "freeze_id",
  "kind",
  "debit",
  "credit",
  "amount_cents",
  "available_after_cents",
  "held_after_cents",
  "rail_receipt",
  "recorded_at",
] as const satisfies (keyof AuditedJournalRow)[];

/** Returns the hash of the leaf of a row, as docs/seals.md says it. */
function leafOf(organizationId: string, row: AuditedJournalRow, salts: RowSalts): Buffer {
  const texts = JSON.stringify(["kesc-texts-1", row.detail ?? "", row.actor, row.reason]);
  const textsHash = hash("sha256", `${salts.of(row.seq)}${texts}`, "hex");
  const fields = LEAF_COLUMNS.map((name) => String(row[name] ?? ""));
  const text = JSON.stringify(["kesc-row-1", organizationId, ...fields, textsHash, row.content_hash]);
  return hash("sha256", `\u0000${text}`, "buffer");
}
