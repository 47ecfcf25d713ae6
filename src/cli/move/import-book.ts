import type { UnixMillis } from "../../domain/values/time.js";
import { OperatorError } from "../../startup/operator-error.js";
import type { Cell } from "../../storage/database.js";
import { areOfEarlierBuild, EARLIER_BUILD_ADVICE, ranMigrations } from "../../storage/migrate.js";
import { type LockedMove, noteCopied } from "../../storage/moves/book-moves.js";
import { columnsOfTables } from "../../storage/moves/columns.js";
import type { FileRow } from "../../storage/moves/read-book.js";
import { type Arrival, beginArrival, storeRows } from "../../storage/moves/write-book.js";
import { readMasterKeys } from "../../storage/secrets/master-key.js";
import type { SealEvidence } from "../../verify/audit.js";
import type { Pace } from "../../verify/pace.js";
import { type Verification, verify } from "../../verify/verify.js";
import { findingLines } from "../commands/verify.js";
import { type CheckedFile, rowsOf } from "./book-file.js";

/** A portion is one transaction. The other organizations of an SQLite file wait for it. */
const PORTION_ROWS = 2_000;
/** The organization, its book, and its keys. */
const FIRST_ROWS = 3;

export interface Import {
  readonly file: CheckedFile;
  readonly seals: SealEvidence;
  readonly pace: Pace;
  readonly now: () => UnixMillis;
  /** Hears how many rows are stored. */
  readonly onRows: (rows: number) => void;
}

export interface Imported {
  readonly book: LockedMove;
  readonly verification: Verification;
}

/**
 * Stores the rows of a file, verifies the book, and compares the root of its tree with that of the
 * other place. The book then waits for its activation. May be repeated after an interruption: it
 * continues with the first row that is not stored.
 *
 * Throws an OperatorError if the file does not fit this database, or if the book is wrong.
 */
export async function importBook(cell: Cell, given: Import): Promise<Imported> {
  const { file, now } = given;
  const arrival = await arrivalOf(cell, file);
  const first: FileRow[] = [];
  const rows = rowsOf(file);
  while (first.length < FIRST_ROWS) {
    const next = rows.next();
    if (next.done === true) break;
    first.push(next.value);
  }
  const book = await beginArrival(cell, arrival, { rows: first, now: now() });
  if (book.move?.phase === "COPYING") await storeOthers(cell, { arrival, rows, book }, given);
  else rows.return();
  const verification = await verify(
    { cells: [cell] },
    { organizationId: file.header.organizationId, seals: given.seals, pace: given.pace },
  );
  refuseWrong(file, verification);
  if (book.move?.phase === "COPYING") {
    await noteCopied(cell, arrival.organizationId, { moveId: arrival.moveId, root: file.end.root, now: now() });
  }
  return { book, verification };
}

/** Throws an OperatorError if the file is for another schema, or needs another master key. */
async function arrivalOf(cell: Cell, { name, header, end }: CheckedFile): Promise<Arrival> {
  const { organizationId, moveId, masterKeyId } = header;
  if (areOfEarlierBuild(header.migrations)) {
    throw new OperatorError(
      `The file ${name} comes from a build before the first release. ${EARLIER_BUILD_ADVICE} Nothing was imported.`,
    );
  }
  const migrations = await ranMigrations(cell);
  const columns = await columnsOfTables(cell);
  const isSame =
    migrations.toSorted().join() === header.migrations.toSorted().join() &&
    Object.keys(header.columns).length === columns.size &&
    [...columns].every(([table, own]) => Object.keys(own).join() === header.columns[table]?.join());
  if (!isSame) {
    throw new OperatorError(
      `The file ${name} comes from a database with another schema, that of kesc ${header.kescVersion}. Migrate both ` +
        "databases to the same version (kesc migrate), and export the book again. Nothing was imported.",
    );
  }
  if (!readMasterKeys(cell.masterKeyFile).some(({ id }) => id === masterKeyId)) {
    throw new OperatorError(
      `The keys of ${organizationId} need the master key ${masterKeyId} of the other place. Add its line at the end of ` +
        `${cell.masterKeyFile}, and run the command again. After the import: kesc master-key prune. ` +
        "Nothing was imported.",
    );
  }
  return { organizationId, moveId, fileSha256: end.sha256, columns };
}

async function storeOthers(
  cell: Cell,
  { arrival, rows, book }: { arrival: Arrival; rows: Generator<FileRow, void, void>; book: LockedMove },
  { now, onRows }: Import,
): Promise<void> {
  let rowsBefore = book.move?.rowsDone ?? 0;
  for (let skipped = FIRST_ROWS; skipped < rowsBefore; skipped += 1) rows.next();
  let portion: FileRow[] = [];
  const store = async (): Promise<void> => {
    await storeRows(cell, { arrival, portion: { rowsBefore, rows: portion }, now: now() });
    rowsBefore += portion.length;
    portion = [];
    onRows(rowsBefore);
  };
  for (const row of rows) {
    portion.push(row);
    if (portion.length === PORTION_ROWS) await store();
  }
  if (portion.length > 0) await store();
}

function refuseWrong(
  { name, header: { organizationId, lastSeq }, end }: CheckedFile,
  verification: Verification,
): void {
  const { coverage } = verification;
  const head = coverage.heads.find((found) => found.organizationId === organizationId);
  const root = coverage.roots.get(organizationId);
  const isWhole = head?.seq === lastSeq && root === end.root;
  if (verification.findingsCount === 0 && isWhole) return;
  throw new OperatorError(
    [
      `The book of ${organizationId} is NOT correct, so it was not opened. Its rows are those of ${name}.`,
      ...findingLines(verification),
      ...(isWhole ? [] : [`  expected the rows up to ${String(lastSeq)} with the root ${end.root}; found other rows`]),
      "To remove it: kesc book discard. To go on at the old place: kesc book resume.",
    ].join("\n"),
  );
}
