import type { Command } from "commander";

import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { type BookSummary, listBooks } from "../../storage/books.js";
import { printJson, printLine, printTable, timeOf } from "../commands/output.js";

/**
 * `kesc book`: lists the books. Returns the command, which gets more subcommands.
 */
export function addBook(program: Command): Command {
  const book = program.command("book").description("the books of the organizations, and their states");
  book
    .command("list")
    .description("list the books: state, seq and time of the last row")
    .option("--json", "print JSON, for scripts")
    .action(list);
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
  else if (books.length === 0) printLine("No books yet. Each organization has one: kesc org create --name NAME");
  else {
    printTable([
      ["ORGANIZATION", "STATE", "SEQ", "LAST ROW", ...inCell("CELL"), "NAME"],
      ...books.map(({ organizationId, state, move, lastSeq, lastRecordedAt, cell, name }) => [
        organizationId,
        move === undefined ? state : `${state} ${move.phase}`,
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
  move,
  lastSeq,
  lastRecordedAt,
}: BookSummary): Readonly<Record<string, string | number | null>> {
  return {
    organization_id: organizationId,
    name,
    cell,
    state: state.toLowerCase(),
    phase: move?.phase.toLowerCase() ?? null,
    moved_to: move?.movedTo ?? null,
    last_seq: lastSeq,
    last_recorded_at: timeOf(lastRecordedAt),
  };
}
