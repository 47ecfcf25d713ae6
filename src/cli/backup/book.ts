import type { Command } from "commander";

import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { activateBook, type BookSummary, listBooks } from "../../storage/books.js";
import type { Database } from "../../storage/database.js";
import { keys } from "../../storage/keys.js";
import { printJson, printLine, printTable, timeOf } from "../commands/output.js";
import { cellOf, findOrganization } from "../organizations.js";

const WRONG_USAGE = 2;

/**
 * `kesc book`: lists the books, and opens those that were restored. Returns the command, which gets
 * more subcommands.
 */
export function addBook(program: Command): Command {
  const book = program.command("book").description("the books of the organizations, and their states");
  book
    .command("list")
    .description("list the books: state, seq and time of the last row")
    .option("--json", "print JSON, for scripts")
    .action(list);
  book
    .command("activate")
    .description("open a restored book, after its organization has reconciled it")
    .argument("<organization>", "id or name of the organization")
    .option("--yes", "open the book; without this option the command only says what to reconcile")
    .option("--json", "print JSON, for scripts")
    .action(activate);
  return book;
}

async function list({ json }: { json?: true }): Promise<void> {
  const { database: address } = configFromEnvironment();
  const { books, cells } = await withCurrentDatabase(address, async (database) => ({
    books: await listBooks(database),
    cells: database.cells.length,
  }));
  // Without several cells, their numbers say nothing.
  const inCell = (text: string): string[] => (cells > 1 ? [text] : []);
  if (json === true) printJson(books.map(bookJson));
  else if (books.length === 0) printLine("No books yet. Each organization has one: npx kesc org create --name NAME");
  else {
    printTable([
      ["ORGANIZATION", "STATE", "SEQ", "LAST ROW", ...inCell("CELL"), "NAME"],
      ...books.map(({ organizationId, state, lastSeq, lastRecordedAt, cell, name }) => [
        organizationId,
        state,
        String(lastSeq),
        timeOf(lastRecordedAt),
        ...inCell(String(cell)),
        name,
      ]),
    ]);
  }
}

/** The states are in lower case, as in the REST API. */
export function bookJson({
  organizationId,
  name,
  cell,
  state,
  lastSeq,
  lastRecordedAt,
}: BookSummary): Readonly<Record<string, string | number>> {
  return {
    organization_id: organizationId,
    name,
    cell,
    state: state.toLowerCase(),
    last_seq: lastSeq,
    last_recorded_at: timeOf(lastRecordedAt),
  };
}

async function activate(organization: string, { yes, json }: { yes?: true; json?: true }): Promise<void> {
  const { database: address } = configFromEnvironment();
  const { book, before } = await withCurrentDatabase(address, async (database) => {
    const found = await findBook(database, organization);
    if (found.state === "RESTORED" && yes !== true) throw new OperatorError(intentOf(found), WRONG_USAGE);
    const stateBefore = await activateBook(cellOf(database, found), found.organizationId);
    return { book: await findBook(database, organization), before: stateBefore };
  });
  if (book.state !== "OPEN") {
    throw new OperatorError(
      `The book of ${nameOf(book)} is ${book.state}: another cell has it, or will have it. Nothing was done.`,
    );
  }
  if (json === true) printJson(bookJson(book));
  else {
    printLine(`The book of ${nameOf(book)} ${before === "RESTORED" ? "is open" : "was open before"}.`);
  }
}

async function findBook(database: Database, organization: string): Promise<BookSummary> {
  const { id } = await findOrganization(keys(database, now), organization);
  const book = (await listBooks(database)).find(({ organizationId }) => organizationId === id);
  if (book === undefined) throw new OperatorError(`${id} has no book. To examine the database: npx kesc verify`);
  return book;
}

function intentOf(book: BookSummary): string {
  return (
    `This would open the book of ${nameOf(book)}, which is RESTORED. Its last row is seq ${String(book.lastSeq)} ` +
    `of ${timeOf(book.lastRecordedAt)}. Everything that happened after the backup and before the restore is missing ` +
    "in this book: compare that time with the statements of the rails and with the records of the callers first, and " +
    "repeat each missing call with its own reference (docs/operations.md). Nothing was done. To open the book, add --yes."
  );
}

function nameOf({ organizationId, name }: BookSummary): string {
  return `${organizationId} ("${name}")`;
}
