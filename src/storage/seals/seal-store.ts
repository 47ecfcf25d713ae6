import { setImmediate as nextTurn } from "node:timers/promises";

import { ofEachAccount } from "../../domain/book.js";
import { BOOK_ACCOUNTS } from "../../domain/journal.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { SEALS } from "../../model/seals.js";
import { type LeafRow, leafTextOf, textsOf } from "../../seals/leaf.js";
import { SIGNATURE_CHARACTERS, SIGNER_CHARACTERS } from "../../seals/note.js";
import type { Seal, SealableBook, SealReads, SealStore } from "../../seals/ports.js";
import type { Cell } from "../database.js";
import { LeafHashes, leafRowsSql } from "../leaves/leaf-rows.js";
import type { Engine, Read } from "../sql/engine.js";
import type { BookRow } from "../sql/records/book-head-rows.js";
import { SUM_COLUMNS, type SumColumns } from "../sql/records/sum-columns.js";
import { inTransaction, orStoreError } from "../sql/store-error.js";

type SealRow = Pick<RowOf<typeof SEALS>, "size" | "root" | "note" | "sealed_at">;
type FoundSealRow = SealRow & { readonly alarm_raised_at: number | null };
type StateRow = Partial<SealRow> & SumColumns<string> & Pick<BookRow, "number" | "organization_id" | "last_seq">;

/** The content hash of these rows covers personal data. An erasure deletes its salt. */
const PERSONAL_KINDS: ReadonlySet<string> = new Set(["account.created", "account.updated"]);

type SealCell = Pick<Cell, "engine" | "listReader" | "directory" | "transact">;

/** Implements the port `SealReads` for one cell. The reads run where lists run. */
export function sealReads({ engine, listReader, directory }: Omit<SealCell, "transact">): SealReads {
  const statements = sealStatements(engine);
  const hashes = new LeafHashes(engine, directory);
  const rows = rowsOf({ engine, listReader });
  const read = ({ sql, bindings }: Read): Promise<readonly unknown[]> => rows(sql, bindings);
  return {
    async book(organizationId) {
      const [book] = await orStoreError(engine, directory.find([organizationId], read));
      return book === undefined ? undefined : { number: book.number, organizationId };
    },
    async seal({ number }, size) {
      const [row] =
        size === undefined
          ? await rows<FoundSealRow>(statements.newest, [number])
          : await rows<FoundSealRow>(statements.sealOf, [number, size]);
      if (row === undefined) return undefined;
      const { alarm_raised_at: raisedAt } = row;
      return { ...sealOf(row), alarmRaisedAt: raisedAt === null ? undefined : toUnixMillis(raisedAt) };
    },
    async signers({ number }, afterSize) {
      const found = await rows<{ readonly signer: string }>(statements.signers, [number, afterSize]);
      return [...new Set(found.map(({ signer }) => signer))];
    },
    leaves({ number, organizationId }, { firstSeq, lastSeq }) {
      const range = { organizationId, book: number, firstSeq, lastSeq };
      return orStoreError(
        engine,
        listReader.leaves === undefined ? hashes.leaves(range, read, nextTurn) : listReader.leaves(range),
      );
    },
    async tile({ number }, { level, index }) {
      const [row] = await rows<{ readonly hashes: Buffer }>(statements.tile, [number, level, index]);
      return row?.hashes;
    },
    async leaf({ number, organizationId }, seq) {
      const [row] = await rows<LeafRow>(statements.leaf, [number, seq, seq]);
      if (row === undefined) return undefined;
      const textsSalt = (await orStoreError(engine, hashes.saltsOf(organizationId, read))).of(seq);
      const contentSalt = PERSONAL_KINDS.has(row.kind) ? undefined : directory.get(organizationId)?.salts.of(seq);
      return { seq, text: leafTextOf(organizationId, row, textsSalt), texts: textsOf(row), textsSalt, contentSalt };
    },
    async rowOf({ number }, transactionId) {
      const [row] = await rows<{ readonly seq: number }>(statements.rowOf, [transactionId, transactionId, number]);
      return row?.seq;
    },
  };
}

/** Implements the port `SealStore` for one cell. */
export function sealStore(cell: SealCell): SealStore {
  const { engine, transact } = cell;
  const statements = sealStatements(engine);
  const rows = rowsOf(cell);
  return {
    ...sealReads(cell),
    async books(after) {
      return (await rows<StateRow>(statements.books, [after])).map(stateOf);
    },
    add: ({ number }, { size, root, note, sealedAt, sums }, tiles) =>
      inTransaction({ engine, transact }, async (session) => {
        for (const { level, index, hashes } of tiles) {
          await session.read({ sql: statements.addTile, bindings: [number, level, index, hashes] });
        }
        const bindings = [number, size, root, note, ...BOOK_ACCOUNTS.map((account) => sums[account]), sealedAt];
        await session.read({ sql: statements.addSeal, bindings });
        const [stored] = await session.read({ sql: statements.sealOf, bindings: [number, size] });
        return (stored as SealRow).root;
      }),
    raise: ({ number }, { size, firstSeq, lastSeq, problem }, now) =>
      inTransaction({ engine, transact }, async (session) => {
        const bindings = [number, now, size, firstSeq, lastSeq, problem];
        return (await session.read({ sql: statements.raise, bindings })).length > 0;
      }),
  };
}

function rowsOf({ engine, listReader }: Pick<SealCell, "engine" | "listReader">) {
  return <Row>(sql: string, bindings: Read["bindings"]): Promise<readonly Row[]> =>
    orStoreError(engine, listReader.rows<Row>(sql, bindings));
}

function stateOf({ number, organization_id: organizationId, last_seq: lastSeq, ...row }: StateRow): SealableBook {
  const { size, root, note, sealed_at } = row;
  const isSealed = typeof size === "number" && root !== undefined && note !== undefined && sealed_at !== undefined;
  const seal = isSealed ? sealOf({ size, root, note, sealed_at }) : undefined;
  const sums = ofEachAccount((account) => row[`${account}_cents`]);
  return { number, organizationId: organizationId as OrganizationId, lastSeq, sums, seal };
}

function sealOf({ size, root, note, sealed_at: sealedAt }: SealRow): Seal {
  return { size, root, note, sealedAt: toUnixMillis(sealedAt) };
}

function sealStatements(engine: Engine) {
  const { table } = engine;
  const seals = table("seals");
  const seal = "s.size, s.root, s.note, s.sealed_at";
  const standing = `SELECT a.raised_at FROM ${table("seal_alarms")} a WHERE a.book = s.book AND a.cleared_at IS NULL`;
  const found = `SELECT ${seal}, (${standing}) AS alarm_raised_at FROM ${seals} s`;
  return {
    leaf: leafRowsSql(engine),
    // One statement reads the last row, the sums and the seal, so that they are of one moment.
    books: `
      SELECT b.number, b.organization_id, b.last_seq, ${seal},
        ${SUM_COLUMNS.map((sum) => `CAST(b.${sum} AS TEXT) AS ${sum}`).join(", ")}
      FROM ${table("books")} b
      LEFT JOIN ${seals} s ON s.book = b.number
        AND s.size = (SELECT MAX(newest.size) FROM ${seals} newest WHERE newest.book = b.number)
      WHERE b.number > ? AND b.state IN ('OPEN', 'RESTORED') AND NOT EXISTS (
        SELECT 1 FROM ${table("seal_alarms")} a WHERE a.book = b.number AND a.cleared_at IS NULL)
      ORDER BY b.number LIMIT 256`,
    newest: `${found} WHERE s.book = ? ORDER BY s.size DESC LIMIT 1`,
    sealOf: `${found} WHERE s.book = ? AND s.size = ?`,
    // A note ends with its signature and a line feed.
    signers: `
      SELECT substr(s.note, length(s.note) - ${String(SIGNATURE_CHARACTERS)}, ${String(SIGNER_CHARACTERS)}) AS signer
      FROM ${seals} s WHERE s.book = ? AND s.size > ?`,
    tile: `SELECT hashes FROM ${table("seal_tiles")} WHERE book = ? AND level = ? AND number = ?`,
    rowOf: `
      SELECT COALESCE((
        SELECT j.seq FROM ${table("journal")} j WHERE j.transaction_id = ?
          AND j.kind IN ('transaction.completed', 'transaction.failed', 'transaction.canceled')), t.seq) AS seq
      FROM ${table("transactions")} t WHERE t.id = ? AND t.book = ?`,
    addTile: `
      INSERT INTO ${table("seal_tiles")} AS stored (book, level, number, hashes) VALUES (?, ?, ?, ?)
      ON CONFLICT (book, level, number) DO UPDATE SET hashes = excluded.hashes
      WHERE length(excluded.hashes) > length(stored.hashes) RETURNING level`,
    addSeal: `
      INSERT INTO ${seals} (book, size, root, note, ${SUM_COLUMNS.join(", ")}, sealed_at)
      VALUES (?, ?, ?, ?, ${SUM_COLUMNS.map(() => "CAST(? AS BIGINT)").join(", ")}, ?)
      ON CONFLICT (book, size) DO NOTHING RETURNING size`,
    raise: `
      INSERT INTO ${table("seal_alarms")} (book, raised_at, size, first_seq, last_seq, problem)
      VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING book`,
  };
}
