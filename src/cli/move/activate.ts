import { setTimeout as sleep } from "node:timers/promises";

import type { Command } from "commander";

import { now } from "../../startup/clock.js";
import { onDatabase } from "../../startup/open-database.js";
import { OperatorError, UsageError } from "../../startup/operator-error.js";
import { activateBook, type BookSummary } from "../../storage/books.js";
import type { Database } from "../../storage/database.js";
import { open, release } from "../../storage/moves/book-moves.js";
import { arrivalOfCode, moveCode } from "../../storage/moves/codes.js";
import { payments } from "../../storage/rails/payments.js";
import { unconfirmedRestore } from "../../storage/restores.js";
import { bookJson } from "../backup/book-json.js";
import { printJson, printLine, timeOf } from "../commands/output.js";
import { booksOf, nameOf, oneOf, orOperatorError, type PlacedBook } from "./places.js";

/**
 * Servers remember a key for a second, and read the accounts at rails every two. After this time
 * all of them know the new place, so no server still reads the old one when the new one opens.
 */
const SERVERS_KNOW_MILLIS = 4_000;

/** `kesc book activate`: opens a book that was restored, or one that has arrived. */
export function addActivate(book: Command): void {
  book
    .command("activate")
    .description("open a book that was restored and reconciled, or a book that was imported")
    .argument("<organization>", "id or name of the organization")
    .option("--yes", "open the book; without this option the command only says what to do before")
    .option("--released <code>", "the code that kesc book release gave at the old place")
    .option("--json", "print JSON, for scripts")
    .action(activate);
}

interface ActivateOptions {
  readonly yes?: true;
  readonly released?: string;
  readonly json?: true;
}

interface Activated {
  readonly book: BookSummary;
  readonly wasOpen: boolean;
}

async function activate(organization: string, options: ActivateOptions): Promise<void> {
  const { book, wasOpen } = await onDatabase((database) => activated(database, organization, options));
  if (options.json === true) printJson(bookJson(book));
  else printLine(`The book of ${nameOf(book)} ${wasOpen ? "was open before" : "is open"}.`);
}

export async function activated(
  database: Database,
  organization: string,
  options: ActivateOptions,
): Promise<Activated> {
  const before = await booksOf(database, organization);
  const placed = oneOf(
    before,
    ({ move, state }) => move?.phase === "COPIED" || (move === undefined && state !== "MOVED"),
  );
  const { book, cell } = placed;
  const wasOpen = book.state === "OPEN";
  if (book.move?.phase === "COPIED") await orOperatorError(() => openArrived(before, placed, options));
  else if (book.state === "RESTORED") await openRestored(database, placed, options);
  else await activateBook(cell, book.organizationId);
  const after = oneOf(await booksOf(database, book.organizationId), () => true, book.cell).book;
  if (after.state === "OPEN") return { book: after, wasOpen };
  const phase = after.move === undefined ? "" : ` (${after.move.phase})`;
  throw new OperatorError(
    `The book of ${nameOf(after)} is ${after.state}${phase}: another place has it, or this one lacks rows of it. ` +
      "Nothing was done. To see the books: kesc book list",
  );
}

/** Payments begin in an open book, so a person has looked before who acts in it. */
async function openRestored(
  database: Database,
  { book, cell }: PlacedBook,
  { yes }: Pick<ActivateOptions, "yes">,
): Promise<void> {
  if (yes !== true) throw new UsageError(intentOf(book));
  if ((await unconfirmedRestore(database)) !== undefined) {
    const first = "See who would act again, and confirm it first: kesc confirm-restore";
    throw new OperatorError(`The restore of the database is not confirmed. Nothing was done. ${first}`);
  }
  await activateBook(cell, book.organizationId);
  await payments(cell).wakeHeld(book.organizationId, now());
}

/** Only one of two places is ever open: the old one gives the book away first. */
async function openArrived(
  books: readonly PlacedBook[],
  { book, cell }: PlacedBook,
  { yes, released }: ActivateOptions,
): Promise<void> {
  const { organizationId, move } = book;
  const moveId = move?.moveId ?? "";
  const old = books.find((other) => other.book.cell !== book.cell && other.book.move?.moveId === moveId);
  if (old === undefined) {
    if (released === undefined) throw new UsageError(await arrivedWords({ book, cell }));
    const arrivalId = await arrivalOfCode(cell, { given: released, organizationId, move }, "released");
    if (arrivalId === undefined || arrivalId !== move?.arrivalId) {
      throw new OperatorError("This is not the code that kesc book release gives for this move. Nothing was done.");
    }
  } else {
    if (yes !== true) throw new UsageError(cellIntentOf(book, old.book));
    const destination = { moveId, arrivalId: move?.arrivalId ?? "", movedTo: `cell ${String(book.cell)}` };
    await release(old.cell, organizationId, { ...destination, now: now() });
  }
  await sleep(SERVERS_KNOW_MILLIS);
  await open(cell, organizationId, moveId);
}

/** Says what to do at the old place. */
export async function arrivedWords({ book, cell }: PlacedBook): Promise<string> {
  const code = await moveCode(cell, book, "arrived");
  return (
    `The book of ${nameOf(book)} is here and correct, but not open. At the old place run: ` +
    `kesc book release ${book.organizationId} --arrived ${code} --to PLACE. Then open it here with the code that ` +
    `it gives: kesc book activate ${book.organizationId} --released CODE`
  );
}

function cellIntentOf(book: BookSummary, old: BookSummary): string {
  return (
    `This would open the book of ${nameOf(book)} in cell ${String(book.cell)}, and give it away in cell ` +
    `${String(old.cell)} for ever. Its keys, sequences and cursors go on. Nothing was done. To do it, add --yes.`
  );
}

function intentOf(book: BookSummary): string {
  return (
    `This would open the book of ${nameOf(book)}, which is RESTORED. Its last row is seq ${String(book.lastSeq)} ` +
    `of ${timeOf(book.lastRecordedAt)}. Everything that happened after the backup and before the restore is missing ` +
    "in this book: compare that time with the statements of the rails and with the records of the callers first, and " +
    "repeat each missing call with its own reference (docs/operations.md). Nothing was done. To open the book, add --yes."
  );
}
