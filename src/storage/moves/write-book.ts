import { randomBytes } from "node:crypto";

import type { OrganizationId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Cell } from "../database.js";
import { lockMasterKeys } from "../master-keys.js";
import { rewrapBookKeys } from "../secrets/book-keys.js";
import { readMasterKeys } from "../secrets/master-key.js";
import type { Columns, Engine, Session } from "../sql/engine.js";
import { bookKeysHexOf } from "../sql/organization-rows.js";
import { inTransaction } from "../sql/store-error.js";
import {
  type BookMove,
  insertMove,
  type LockedMove,
  lockMove,
  MoveError,
  NO_MOVE,
  stateOf,
  step,
  updateMove,
} from "./book-moves.js";
import type { TableColumns } from "./columns.js";
import type { FileRow, FileValue } from "./read-book.js";
import { TOMBSTONE_TABLES } from "./tables.js";

/** An import of one file. */
export interface Arrival {
  readonly organizationId: OrganizationId;
  readonly moveId: string;
  readonly fileSha256: string;
  readonly columns: TableColumns;
}

const ARRIVAL_ID_BYTES = 5;

type MovedRow = Readonly<Record<string, FileValue>>;

/**
 * Begins an import, or continues the one that was interrupted. The first three rows of the file are
 * the organization, its book and its keys; the keys are encrypted again with the first master key
 * of this place. Returns the book. It takes no commands, and no key of it is valid yet.
 *
 * Rejects with a MoveError if the cell has the organization, and with a WrongMasterKeyError if the
 * master key file lacks the key of the other place.
 */
export async function beginArrival(
  cell: Cell,
  arrival: Arrival,
  { rows, now }: { readonly rows: readonly FileRow[]; readonly now: UnixMillis },
): Promise<LockedMove> {
  let refusal: unknown;
  return inTransaction(cell, async (session) => {
    // Under this lock the numbers of new books do not collide, and no rotation removes the key.
    await lockMasterKeys(cell, session);
    try {
      return await begin(cell, session, { arrival, rows, now });
    } catch (error) {
      refusal = error;
      throw error;
    }
  }).catch((error: unknown) => {
    throw refusal ?? error;
  });
}

interface Beginning {
  readonly arrival: Arrival;
  readonly rows: readonly FileRow[];
  readonly now: UnixMillis;
}

async function begin(cell: Cell, session: Session, { arrival, rows, now }: Beginning): Promise<LockedMove> {
  const { organizationId, moveId, fileSha256 } = arrival;
  const { engine } = cell;
  const found = await lockMove(cell, session, organizationId);
  if (found?.move?.phase === "COPYING" || found?.move?.phase === "COPIED") {
    if (found.move.fileSha256 === fileSha256) return found;
    throw new MoveError("An import of another file of this organization is not finished.");
  }
  if (found !== undefined && found.move?.phase !== "EMPTIED") {
    throw new MoveError(`This cell has the organization. Its book is ${stateOf(found)}.`);
  }
  const number = found?.number ?? (await nextNumber(engine, session));
  const [organization, book, keys] = rows.map((row) => recordOf(arrival.columns, row, number));
  if (organization === undefined || book === undefined || keys === undefined) {
    throw new MoveError("The file does not begin with an organization, its book and its keys.");
  }
  const rewrapped = bookKeysHexOf(rewrapBookKeys(readMasterKeys(cell.masterKeyFile), organizationId, keysOf(keys)));
  const arrived = { ...book, state: "MOVING", arrived_seq: book["last_seq"] ?? null };
  const records: readonly MovedRow[] = [organization, arrived, { ...keys, ...rewrapped }];
  const arrivalId = randomBytes(ARRIVAL_ID_BYTES).toString("hex");
  const move: BookMove = { ...NO_MOVE, moveId, phase: "COPYING", fileSha256, arrivalId, rowsDone: rows.length };
  for (const [index, { name, key }] of TOMBSTONE_TABLES.entries()) {
    const table = engine.table(name);
    const columns = arrival.columns.get(name) ?? {};
    const sql = found === undefined ? engine.insertInto(table, columns) : engine.update(table, { key, columns });
    await session.write([{ sql, rows: [records[index] as MovedRow] }]);
  }
  const write = found === undefined ? insertMove : updateMove;
  await session.write([write(engine, { number, organizationId }, { move, now })]);
  return { organizationId, number, state: "MOVING", lastSeq: Number(book["last_seq"]), move };
}

async function nextNumber({ table }: Engine, session: Session): Promise<number> {
  const sql = `SELECT COALESCE(MAX(number), 0) AS number FROM ${table("books")}`;
  const [last] = (await session.read({ sql, bindings: [] })) as readonly [{ readonly number: number }];
  return last.number + 1;
}

function keysOf(row: MovedRow): Parameters<typeof rewrapBookKeys>[2] {
  const bytes = (name: string): Buffer => Buffer.from(String(row[name]), "hex");
  return {
    data_key: bytes("data_key"),
    index_key: bytes("index_key"),
    seal_secret: bytes("seal_secret"),
    master_key_id: String(row["master_key_id"]),
  };
}

/** Rows of the file, from this one on. */
export interface Portion {
  /** The number of rows before these. */
  readonly rowsBefore: number;
  readonly rows: readonly FileRow[];
}

/**
 * Stores rows in one transaction, together with how far the import has come. So an import that was
 * interrupted continues after the last portion, and two imports of one file do not mix.
 */
export async function storeRows(
  cell: Cell,
  { arrival, portion, now }: { readonly arrival: Arrival; readonly portion: Portion; readonly now: UnixMillis },
): Promise<void> {
  const { organizationId, moveId, columns } = arrival;
  const { engine } = cell;
  await step(cell, organizationId, async (book, session) => {
    const { move } = book;
    if (move?.phase !== "COPYING" || move.moveId !== moveId || move.rowsDone !== portion.rowsBefore) {
      throw new MoveError(`The book is ${stateOf(book)}: another command works on it.`);
    }
    for (const [name, rows] of byTable(portion.rows)) {
      const own = columns.get(name);
      if (own === undefined) throw new MoveError(`The file has rows of ${name}, which this version does not know.`);
      const records = rows.map((row) => recordOf(columns, row, book.number));
      await session.read({ sql: insertSql(engine, name, own), bindings: [JSON.stringify(records)] });
    }
    const rowsDone = portion.rowsBefore + portion.rows.length;
    await session.write([updateMove(engine, book, { move: { ...move, rowsDone }, now })]);
  });
}

/** One statement for all rows: a message to the thread of SQLite for each would take longer. */
function insertSql({ table, input, unhex }: Engine, name: string, columns: Columns): string {
  const names = Object.keys(columns);
  const values = names.map((column) => (columns[column] === "bytes" ? unhex(`input.${column}`) : `input.${column}`));
  return `INSERT INTO ${table(name)} (${names.join(", ")}) SELECT ${values.join(", ")} FROM ${input(columns)}`;
}

function byTable(rows: readonly FileRow[]): ReadonlyMap<string, readonly FileRow[]> {
  const tables = new Map<string, FileRow[]>();
  for (const row of rows) {
    const own = tables.get(row.table);
    if (own === undefined) tables.set(row.table, [row]);
    else own.push(row);
  }
  return tables;
}

/** The book has another number in each database. */
function recordOf(columns: TableColumns, { table, values }: FileRow, book: number): MovedRow {
  const names = Object.keys(columns.get(table) ?? {});
  const record: Record<string, FileValue> = {};
  for (const [index, name] of names.entries()) record[name] = values[index] ?? null;
  if ("book" in record) record["book"] = book;
  if (table === "books") record["number"] = book;
  return record;
}
