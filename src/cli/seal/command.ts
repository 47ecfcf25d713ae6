import { join } from "node:path";

import type { Command } from "commander";

import { createSealKeyFile, readSealKeys, rotateSealKey } from "../../seals/key-file.js";
import { keysOfLog, verifierKeyOf } from "../../seals/note.js";
import { publishBook, PublishError } from "../../seals/publish.js";
import { SealMemoryFile } from "../../seals/seal-memory.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { invocation } from "../../startup/invocation.js";
import { onDatabaseForLong } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { usingSealKeyFile } from "../../startup/seal-keys.js";
import type { Cell, Database } from "../../storage/database.js";
import { clearAlarm, type SealedBook, sealedBooks } from "../../storage/seals/alarms.js";
import { sealReads } from "../../storage/seals/seal-store.js";
import { nonEmptyName, statusReason } from "../commands/arguments.js";
import { printLine } from "../commands/output.js";
import { jobMetrics, METRICS_FILE, writeMetricsFile } from "../metrics-file.js";
import { ProgressLine } from "../terminal.js";
import { WITNESSES, witnessesIn } from "../witnesses.js";

/** Adds the commands of `kesc seal` that no row of the table serves. */
export function addSeal(seal: Command): void {
  seal
    .command("rotate")
    .description("make a new key that seals the books; only after the first one servers need a restart")
    .action(rotate);
  seal
    .command("publish")
    .description("write the newest checkpoint of each book and its tiles as files, for people who do not trust you")
    .argument("<folder>", "the folder; a later call adds what is new")
    .option(...WITNESSES)
    .option(...METRICS_FILE)
    .action(publish);
  seal
    .command("clear")
    .description("clear the alarm of a book, so that it is sealed again")
    .argument("<organization>", "the id of the organization")
    .requiredOption("--by <name>", "who has looked at the book", nonEmptyName)
    .requiredOption("--reason <text>", "what was found", statusReason)
    .action(clear);
}

function rotate(): void {
  const { keyFile, origin } = configFromEnvironment().seals;
  const isNew = usingSealKeyFile({ keyFile }, () => createSealKeyFile(keyFile));
  const [newest] = usingSealKeyFile({ keyFile }, () =>
    isNew ? readSealKeys(keyFile) : rotateSealKey(keyFile),
  ).publicKeys;
  printLine(isNew ? `Created the seal key file ${keyFile}.` : `Put a new key into ${keyFile}.`);
  printLine(`Its public key: ${verifierKeyOf(origin, newest)}`);
  printLine(`Verifiers need it in the name of a book, ${origin}/org_…: publish the file keys of kesc seal publish.`);
  if (isNew) printLine("Keep a copy of the file apart from the backups. Restart the servers once, so that they seal.");
  else printLine("Servers sign with it from the next seal on. The public keys of the earlier ones stay in the file.");
}

async function publish(
  folder: string,
  { metricsFile, witnesses: witnessesFile }: { metricsFile?: string; witnesses?: string },
): Promise<void> {
  const witnesses = witnessesIn(witnessesFile);
  const progress = new ProgressLine(invocation().stderr);
  const { keyFile } = configFromEnvironment().seals;
  const keys = usingSealKeyFile({ keyFile }, () => readSealKeys(keyFile));
  const problems = await withBooks(async (books) => {
    const found: string[] = [];
    for (const { book, cell } of books) {
      const onRows = (size: number, total: number): void => {
        progress.show(size, total, ` rows of ${book.organizationId}`);
      };
      const { organizationId } = book;
      const publicKeys = keysOfLog(keys, { organizationId, size: 0 });
      const options = { folder: join(folder, organizationId), publicKeys, witnesses, onRows };
      try {
        const published = await publishBook(sealReads(cell), book, options).finally(() => {
          progress.clear();
        });
        if (published === undefined) continue;
        const { from, size, cosignatures } = published;
        const cosigned =
          witnesses.length === 0 ? "" : `, cosigned by ${String(cosignatures)} of ${String(witnesses.length)}`;
        printLine(`${book.organizationId}: published up to row ${String(size)}, ${String(size - from)} new${cosigned}`);
      } catch (error) {
        if (!(error instanceof PublishError)) {
          for (const problem of found) invocation().stderr.write(`${problem}\n`);
          throw error;
        }
        found.push(`${book.organizationId} was not published: ${error.message}.`);
      }
    }
    return found;
  });
  if (problems.length === 0) {
    if (metricsFile !== undefined) writeMetricsFile(metricsFile, jobMetrics("seal publish", now()));
    return;
  }
  const advice = `What was published before is as it was. Compare the books with it: kesc verify --published ${folder}`;
  throw new OperatorError([...problems, advice].join("\n"));
}

async function clear(
  organizationId: string,
  { by: person, reason }: { readonly by: string; readonly reason: string },
): Promise<void> {
  const { keyFile } = configFromEnvironment().seals;
  await withBooks(async (books) => {
    const found = books.find(({ book }) => book.organizationId === organizationId);
    if (found === undefined) throw new OperatorError(`There is no organization ${organizationId}.`);
    const hasNone = (): OperatorError =>
      new OperatorError(`The book of ${organizationId} has no alarm. Nothing was done.`);
    if (found.book.problem === undefined) throw hasNone();
    // Otherwise the alarm would come back in a restored book, which has fewer seals than before. It
    // comes first: a second run ends what was interrupted as long as the alarm stands.
    forgetSeal(keyFile, organizationId);
    const isCleared = await clearAlarm(found.cell, { book: found.book, person, reason, now: now() });
    if (!isCleared) throw hasNone();
    printLine(`Cleared the alarm of ${organizationId}. If its rows still differ from the seal, the alarm comes back.`);
  });
}

function forgetSeal(keyFile: string, organizationId: string): void {
  try {
    new SealMemoryFile(keyFile, () => undefined).forget(organizationId);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(
      `The last seal of ${organizationId}, noted beside ${keyFile}, cannot be forgotten: ${reason}. The alarm stands. ` +
        "Nothing was done. Run the command as the user of the servers.",
      { cause: error },
    );
  }
}

interface BookOfCell {
  readonly book: SealedBook;
  readonly cell: Cell;
}

function withBooks<Result>(work: (books: readonly BookOfCell[]) => Promise<Result>): Promise<Result> {
  return onDatabaseForLong(async (database) => work(await booksOf(database)));
}

async function booksOf({ cells }: Database): Promise<readonly BookOfCell[]> {
  const books = await Promise.all(cells.map(async (cell) => (await sealedBooks(cell)).map((book) => ({ book, cell }))));
  return books.flat();
}
