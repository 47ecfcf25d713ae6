import { appendFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { type Command, InvalidArgumentError, Option } from "commander";
import * as z from "zod";

import { BOOK_ACCOUNTS } from "../../domain/journal.js";
import { type AccountId, parseAccountId } from "../../domain/values/ids.js";
import { GeneralLedgerLine, JournalLine, StatementLine } from "../../gen/kesc/v1/statement.js";
import { toGeneralLedgerLine, toJournalLine, toStatementLine } from "../../grpc/messages/history/statement.js";
import { now } from "../../startup/clock.js";
import { invocation } from "../../startup/invocation.js";
import { onDatabaseForLong } from "../../startup/open-database.js";
import { OperatorError, UsageError } from "../../startup/operator-error.js";
import type { History } from "../../statements/as-of.js";
import { exportGeneralLedger, exportJournal, exportStatement } from "../../statements/exports.js";
import type { FormattedLine } from "../../statements/forms/formatted-line.js";
import { type Format, FORMATS, LEDGER_FORMATS, lineFormat } from "../../statements/forms/line-format.js";
import { parsePeriod } from "../../statements/period.js";
import { FootingError, type Period } from "../../statements/statement.js";
import type { Database } from "../../storage/database.js";
import { reads } from "../../storage/reads.js";
import { historyReads } from "../../storage/statements/history.js";
import { NewFile } from "../backup/new-file.js";
import { argument } from "../commands/arguments.js";
import { printTextInTurn } from "../commands/output.js";
import { findOwner } from "../organizations.js";

interface ExportOptions {
  readonly from: string;
  readonly to: string;
  readonly format: Format;
  readonly bom?: true;
  readonly output?: string;
  readonly accounts?: AccountNumbers;
  readonly postingsOnly?: boolean;
}

/** The organization's own account numbers, by "reserve", or "reserve:kcb-1234" for a source. */
type AccountNumbers = Readonly<Record<string, string>>;

type ExportParts = AsyncIterable<readonly FormattedLine[]>;

/** What an export writes: its parts, and the names of its fields for the head of a CSV file. */
interface Source {
  /** The beginning of the name of a file. */
  readonly file: string;
  readonly names: readonly string[];
  /** The account of a statement. It must exist. */
  readonly accountId?: AccountId;
  readonly partsOf: (history: History, period: Period) => ExportParts;
  /** Returns a warning about the lines that were written. */
  readonly warning?: () => string | undefined;
}

/** `kesc export`: the book of an organization for the accountant. */
export function addExport(program: Command): void {
  const command = program.command("export").description("a period of an organization's book, for the accountant");
  withOptions(command.command("statement").description("the statement of one account"))
    .requiredOption("--account <id>", "id of the account", argument(parseAccountId))
    .action((org: string, options: ExportOptions & { account: AccountId }) => exportAccount(org, options));
  withOptions(command.command("journal").description("all rows of the book")).action(
    (org: string, options: ExportOptions) => exportTo(org, options, JOURNAL),
  );
  withOptions(command.command("ledger").description("the general ledger: debits and credits of the book accounts"), [
    ...FORMATS,
    ...LEDGER_FORMATS,
  ])
    .option(
      "--accounts <file>",
      'your own account numbers, as JSON: {"reserve": "1010", "reserve:kcb-1234": "1020", "charges": "6200"}',
      accountNumbers,
    )
    .option("--postings-only", "leave out the lines opening and closing, for programs that add up the columns")
    .action((org: string, options: ExportOptions) => exportTo(org, options, ledgerWith(options)));
}

function withOptions(command: Command, formats: readonly Format[] = FORMATS): Command {
  return command
    .argument("<organization>", "id or name of the organization")
    .requiredOption("--from <day>", "first day in Kenya, such as 2026-11-01, or a time")
    .requiredOption("--to <day>", "last day in Kenya, such as 2026-11-30, or the time of the end")
    .addOption(
      new Option("--format <format>", `the form of the file: ${formats.join(", ")}`).choices(formats).default("csv"),
    )
    .option("--bom", "begin a CSV file with a byte-order mark, which some spreadsheets need")
    .option(
      "--output <file>",
      "write a new file, which appears when it is complete; in a folder it is named by organization and days (default: standard output)",
    );
}

const ACCOUNT_NUMBERS = z.record(
  z.string().regex(new RegExp(`^(${BOOK_ACCOUNTS.join("|")})(:[a-z0-9-]{1,32})?$`), {
    error: `must be one of ${BOOK_ACCOUNTS.join(", ")}, alone or with a colon and the source of a receipt`,
  }),
  z.string().regex(/^[\x20-\x7e]{1,64}$/, "must be 1 to 64 printable ASCII characters"),
);

const NO_BYTES = new Uint8Array();

const JOURNAL: Source = {
  file: "journal",
  names: Object.keys(JournalLine.decode(NO_BYTES)),
  partsOf: (history, period) => mapped(exportJournal(history, period), (line) => toJournalLine(line, history)),
};

/** With account numbers each line has one more field, the last: that of its book account. */
function ledgerWith({ accounts: numbers, postingsOnly = false }: ExportOptions): Source {
  const missing = new Set<string>();
  const numbered = (line: GeneralLedgerLine): object => {
    if (numbers === undefined) return line;
    const { book_account: account, source } = line;
    const name = source === undefined ? account : `${account}:${source}`;
    const number = numbers[name] ?? numbers[account];
    if (number === undefined) missing.add(account);
    return { ...line, account_number: number ?? "" };
  };
  return {
    file: "general-ledger",
    names: [...Object.keys(GeneralLedgerLine.decode(NO_BYTES)), ...(numbers === undefined ? [] : ["account_number"])],
    partsOf: (history, period) =>
      mapped(exportGeneralLedger(history, period, { postingsOnly }), (line) =>
        numbered(toGeneralLedgerLine(line, history)),
      ),
    warning: () =>
      missing.size === 0
        ? undefined
        : `Without an account number: ${[...missing].sort().join(", ")}. Add it to the file of --accounts.`,
  };
}

function accountNumbers(file: string): AccountNumbers {
  let given: unknown;
  try {
    given = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new InvalidArgumentError(`It cannot be read as JSON: ${error instanceof Error ? error.message : ""}`);
  }
  const read = ACCOUNT_NUMBERS.safeParse(given);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new InvalidArgumentError(`${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`.trim());
}

function exportAccount(org: string, { account, ...options }: ExportOptions & { account: AccountId }): Promise<void> {
  return exportTo(org, options, {
    file: `statement-${account}`,
    names: Object.keys(StatementLine.decode(NO_BYTES)),
    accountId: account,
    partsOf: (history, period) =>
      mapped(exportStatement(history, { accountId: account, ...period }), (line) =>
        toStatementLine(line, { ...history, accountId: account }),
      ),
  });
}

async function* mapped<Item>(parts: AsyncIterable<readonly Item[]>, lineOf: (item: Item) => object): ExportParts {
  for await (const part of parts) yield part.map((item) => lineOf(item) as FormattedLine);
}

async function exportTo(org: string, options: ExportOptions, source: Source): Promise<void> {
  const period = periodOf(options);
  if (options.format === "xlsx" && options.output === undefined) {
    throw new UsageError("--format xlsx writes a file: name it with --output.");
  }
  if (options.postingsOnly === true && (options.format === "hledger" || options.format === "beancount")) {
    throw new UsageError(`--format ${options.format} needs the opening balances: leave out --postings-only.`);
  }
  await onDatabaseForLong(
    async (database) => {
      const history = await historyOf(database, org, source);
      const parts = source.partsOf(history, period);
      const file = options.output === undefined ? undefined : NewFile.create(fileOf(history, options, source));
      try {
        await write(parts, { file, options, source });
        file?.publish();
        const warning = source.warning?.();
        if (warning !== undefined) invocation().stderr.write(`${warning}\n`);
      } catch (error) {
        file?.remove();
        // A CSV file that ends early looks like a whole one.
        if (file === undefined) invocation().stderr.write("What was printed is not the whole export.\n");
        if (!(error instanceof FootingError)) throw error;
        const advice = "Run: kesc verify";
        throw new OperatorError(`The export was ended: ${error.message}. ${advice}`, { cause: error });
      }
    },
    { onlyReads: true },
  );
}

/** Returns the path of the file. In a folder the file has the name that the API gives it. */
function fileOf(
  { organizationId }: History,
  { output = "", from, to, format }: ExportOptions,
  { file }: Source,
): string {
  if (statSync(output, { throwIfNoEntry: false })?.isDirectory() !== true) return output;
  const name = [file, organizationId, from, to].join("-").replaceAll(/[^A-Za-z0-9._-]+/g, "_");
  return join(output, `${name}.${format}`);
}

async function write(
  parts: ExportParts,
  given: { readonly file: NewFile | undefined; readonly options: ExportOptions; readonly source: Source },
): Promise<void> {
  const { file, options, source } = given;
  const print = async (part: string | Uint8Array): Promise<void> => {
    if (file !== undefined) appendFileSync(file.part, part);
    else if (typeof part === "string") await printTextInTurn(part);
  };
  const format = lineFormat(options.format, { hasMark: options.bom === true });
  await print(format.begin(source.names));
  for await (const lines of parts) await print(format.lines(lines));
  await print(format.end());
}

async function historyOf(database: Database, org: string, { accountId }: Source): Promise<History> {
  const { organization, cell } = await findOwner(database, org);
  const { id: organizationId } = organization;
  if (accountId !== undefined && (await reads(cell).account(organizationId, accountId)) === undefined) {
    throw new OperatorError(`${organizationId} has no account ${accountId}.`);
  }
  const inTurn: History["inTurn"] = async (read) => (await read()).result;
  return { organizationId, reads: historyReads(cell), inTurn };
}

function periodOf(options: ExportOptions): Period {
  const { start, end } = parsePeriod({ start: options.from, end: options.to }, now());
  if (!start.ok) throw new UsageError(`--from ${start.problem}.`);
  if (!end.ok) throw new UsageError(`--to ${end.problem}.`);
  return { start: start.value, end: end.value };
}
