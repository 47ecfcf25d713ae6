import { resolve } from "node:path";

import type { Command } from "commander";

import { asWritten } from "../../domain/api-key.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { invocation } from "../../startup/invocation.js";
import { onDatabase, onDatabaseForLong, usingMasterKeyFile } from "../../startup/open-database.js";
import { OperatorError, requireYes } from "../../startup/operator-error.js";
import { publicSealKeys } from "../../startup/seal-keys.js";
import type { BookSummary } from "../../storage/books.js";
import type { Cell, Database } from "../../storage/database.js";
import { keys } from "../../storage/keys.js";
import { release as giveAway, stay } from "../../storage/moves/book-moves.js";
import { arrivalOfCode, moveCode } from "../../storage/moves/codes.js";
import { emptyBook } from "../../storage/moves/empty-book.js";
import { BESIDE_A_SERVER, FULL_SPEED } from "../../verify/pace.js";
import { bookJson } from "../backup/book-json.js";
import { wholeNumber } from "../commands/arguments.js";
import { printJson, printLine } from "../commands/output.js";
import { addAcceptClock } from "./accept-clock.js";
import { addActivate, arrivedWords } from "./activate.js";
import { checkBookFile } from "./book-file.js";
import { exportBook } from "./export-book.js";
import { importBook } from "./import-book.js";
import { booksOf, nameOf, oneOf, orOperatorError } from "./places.js";
import { evidenceOf, exportedKeys } from "./seal-evidence.js";

const CELL = wholeNumber({ min: 0, max: 999 });

/** The steps with which an organization moves to another cell or database. */
export function addMove(book: Command): void {
  addActivate(book);
  addAcceptClock(book);
  book
    .command("export")
    .description("stop the book of an organization, and write all of it into a file, for kesc book import")
    .argument("<organization>", "id or name of the organization")
    .argument("<file>", "the new file")
    .option("--yes", "do it; without this option the command only says what it would do")
    .option("--json", "print JSON, for scripts")
    .action(exportOne);
  book
    .command("import")
    .description("store the book that kesc book export wrote, and verify it; run it again after an interruption")
    .argument("<file>", "the file")
    .option("--cell <number>", "the cell that gets the book; without it the one with the fewest books", CELL)
    .option("--full-speed", "verify without rests, for a machine on which nothing else runs")
    .option("--json", "print JSON, for scripts")
    .action(importOne);
  book
    .command("release")
    .description("give the book away for ever, once the new place has all of it")
    .argument("<organization>", "id or name of the organization")
    .requiredOption("--arrived <code>", "the code that the import gave at the new place")
    .requiredOption("--to <place>", "where the book is now, for people")
    .option("--json", "print JSON, for scripts")
    .action(releaseOne);
  book
    .command("resume")
    .description("give the move up: open the book again at its old place")
    .argument("<organization>", "id or name of the organization")
    .action(resumeOne);
  book
    .command("discard")
    .description("remove the rows of a book that has moved away, or of an import that was given up")
    .argument("<organization>", "id or name of the organization")
    .option("--cell <number>", "the cell that has the rows", CELL)
    .option("--yes", "do it; without this option the command only says what it would do")
    .action(discardOne);
}

async function exportOne(
  organization: string,
  file: string,
  { yes, json }: { readonly yes?: true; readonly json?: true },
): Promise<void> {
  const { header, end } = await onDatabaseForLong(async (database, { seals }) => {
    const { book, cell } = oneOf(await booksOf(database, organization), ({ move }) => move?.phase !== "LEFT");
    requireYes(
      yes,
      `This would stop the book of ${nameOf(book)}: its reads go on, its commands get BOOK_MOVING until the new ` +
        `place opens it or kesc book resume opens it here.`,
    );
    const { organizationId, name } = book;
    const sealPublicKeys = exportedKeys(publicSealKeys(seals), organizationId);
    return orOperatorError(() => exportBook(cell, { organizationId, name, file: resolve(file), sealPublicKeys, now }));
  });
  const rows = Object.values(end.rows).reduce((sum, count) => sum + count, 0);
  if (json === true) {
    printJson({ organization_id: header.organizationId, last_seq: header.lastSeq, rows, root: end.root, file });
    return;
  }
  printLine(
    `Wrote the book of ${nameOf(header)} up to seq ${String(header.lastSeq)} into ${file}, ${String(rows)} rows.`,
  );
  printLine("The file has personal data, and the keys of the book, encrypted. Keep it as safe as a backup.");
  printLine(`At the new place: kesc book import ${file}. To give the move up: kesc book resume`);
}

async function importOne(
  name: string,
  { cell: number, fullSpeed, json }: { readonly cell?: number; readonly fullSpeed?: true; readonly json?: true },
): Promise<void> {
  const { database: address, seals } = configFromEnvironment();
  const file = checkBookFile(resolve(name));
  const { organizationId } = file.header;
  const evidence = evidenceOf(seals, file.header);
  const { book, words } = await onDatabaseForLong((database) =>
    usingMasterKeyFile(address, async () => {
      const cell = await cellFor(database, number, organizationId);
      const pace = fullSpeed === true ? FULL_SPEED : BESIDE_A_SERVER;
      const onRows = progressOf(file.rows);
      await orOperatorError(() => importBook(cell, { file, seals: evidence, pace, now, onRows }));
      const books = await booksOf(database, organizationId);
      const placed = oneOf(books, () => true, cell.number);
      const isSameDatabase = books.some(({ book: other }) => other.move?.phase === "LEAVING");
      return {
        book: placed.book,
        words: isSameDatabase
          ? `The book is complete and correct in cell ${String(cell.number)}. To open it there: kesc book activate ${organizationId} --yes`
          : await arrivedWords(placed),
      };
    }),
  );
  if (json === true) printJson(bookJson(book));
  else printLine(words);
}

async function releaseOne(
  organization: string,
  { arrived, to, json }: { readonly arrived: string; readonly to: string; readonly json?: true },
): Promise<void> {
  const { book, code } = await onDatabase((database) => released(database, organization, { arrived, to }));
  if (json === true) printJson({ organization_id: book.organizationId, released: code });
  else {
    printLine(`The book of ${nameOf(book)} is given away to ${to}. It never opens here again.`);
    printLine(`At the new place: kesc book activate ${book.organizationId} --released ${code}`);
  }
}

/** Gives the book away if the code shows that the new place has all of it. */
export async function released(
  database: Database,
  organization: string,
  { arrived, to }: { readonly arrived: string; readonly to: string },
): Promise<{ readonly book: BookSummary; readonly code: string }> {
  return orOperatorError(async () => {
    const { book, cell } = oneOf(
      await booksOf(database, organization),
      ({ move }) => move?.phase === "LEAVING" || move?.phase === "LEFT",
    );
    const arrivalId = await arrivalOfCode(cell, { ...book, given: arrived }, "arrived");
    if (arrivalId === undefined) {
      throw new OperatorError("This is not the code that the import of this book gave. Nothing was done.");
    }
    const destination = { moveId: book.move?.moveId ?? "", arrivalId, movedTo: to };
    const { move } = await giveAway(cell, book.organizationId, { ...destination, now: now() });
    return { book, code: await moveCode(cell, { ...book, move }, "released") };
  });
}

async function resumeOne(organization: string): Promise<void> {
  const book = await onDatabase(async (database) => {
    const placed = oneOf(await booksOf(database, organization), ({ move }) => move?.phase === "LEAVING");
    await orOperatorError(() => stay(placed.cell, placed.book.organizationId));
    return placed.book;
  });
  printLine(`The book of ${nameOf(book)} is open. Files that were exported before cannot be activated any more.`);
}

async function discardOne(
  organization: string,
  { cell: number, yes }: { readonly cell?: number; readonly yes?: true },
): Promise<void> {
  const book = await onDatabaseForLong(async (database) => {
    const books = await booksOf(database, organization);
    const placed = oneOf(books, ({ move }) => move !== undefined && move.phase !== "LEAVING", number);
    const phase = placed.book.move?.phase ?? placed.book.state;
    const place = `cell ${String(placed.book.cell)}, where its book is ${phase}`;
    requireYes(yes, `This would remove the rows of ${nameOf(placed.book)} from ${place}.`);
    await orOperatorError(() => emptyBook(placed.cell, placed.book.organizationId, now));
    return placed.book;
  });
  printLine(`The rows of ${nameOf(book)} are removed from cell ${String(book.cell)}. Its name and its number stay.`);
}

async function cellFor(database: Database, number: number | undefined, organizationId: string): Promise<Cell> {
  if (number !== undefined) {
    const cell = database.cells[number];
    if (cell !== undefined) return cell;
    throw new OperatorError(`There is no cell ${String(number)}. The last is ${String(database.cells.length - 1)}.`);
  }
  // An import that was interrupted continues where it was.
  const known = await booksOf(database, organizationId).catch(() => []);
  const begun = known.find(({ book }) => book.move?.phase === "COPYING" || book.move?.phase === "COPIED");
  if (begun !== undefined) return begun.cell;
  const organizations = await keys(database, now).organizations();
  const taken = new Set(known.map(({ book }) => book.cell));
  const count = (cell: Cell): number => organizations.filter((each) => asWritten(each).cell === cell.number).length;
  const [emptiest] = database.cells
    .filter((cell) => !taken.has(cell.number))
    .toSorted((left, right) => count(left) - count(right) || left.number - right.number);
  return emptiest ?? database.cells[0];
}

/** Shows each tenth. */
function progressOf(rows: number): (done: number) => void {
  let tenths = 0;
  return (done) => {
    const now = Math.floor((10 * done) / Math.max(1, rows));
    if (now === tenths) return;
    tenths = now;
    invocation().stderr.write(`${String(done)} of ${String(rows)} rows\n`);
  };
}
