import { Argument, type Command, InvalidArgumentError } from "commander";

import type { Rail } from "../../domain/transaction.js";
import { type Cents, parseAmount, toCents } from "../../domain/values/cents.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import { RAILS } from "../../rails/rails.js";
import type { StatementFormat } from "../../rails/statement.js";
import { compareStatement } from "../../reconcile/compare-statement.js";
import type { BookedMovements } from "../../reconcile/ports.js";
import { reconcile } from "../../reconcile/reconcile.js";
import { chargesIn, RECORD_BYTES_MAX, type Statement, StatementError } from "../../reconcile/statement-movements.js";
import { readTie } from "../../reconcile/tie.js";
import { now } from "../../startup/clock.js";
import { invocation } from "../../startup/invocation.js";
import { onDatabaseForLong } from "../../startup/open-database.js";
import { OperatorError, UsageError } from "../../startup/operator-error.js";
import type { History } from "../../statements/as-of.js";
import { bookedMovements } from "../../storage/rails/booked-movements.js";
import { historyReads } from "../../storage/statements/history.js";
import { argument, wholeNumber } from "../commands/arguments.js";
import { printJson, printLine } from "../commands/output.js";
import { csvRecords } from "../import/csv-records.js";
import { jobMetrics, METRICS_FILE, writeMetricsFile } from "../metrics-file.js";
import { findOwner, type FoundOwner } from "../organizations.js";
import { openAccount } from "../rail/open-account.js";
import { applyCharges } from "./apply-charges.js";
import { applyReceived } from "./apply-received.js";
import { onlyReceived, pulledPeriod, pullReceived, receivedMovements } from "./received.js";
import { breaksOf, type ReconcileReport, reportJson, reportLines } from "./report.js";

const BREAKS_FOUND = 1;
const HOURS = 24;
const CHARGE_MAX_CENTS = toCents(200_00);
// M-Pesa lists no payment that is older.
const HOURS_MAX = 48;

const WITH_STATEMENT = RAILS.flatMap(({ name, statement }) => (statement === undefined ? [] : [{ name, statement }]));

interface ReconcileOptions {
  readonly org: string;
  readonly from?: UnixMillis;
  readonly to?: UnixMillis;
  readonly pull?: true;
  readonly hours?: number;
  readonly apply?: true;
  readonly chargeMax?: Cents;
  readonly json?: true;
  readonly metricsFile?: string;
}

/**
 * `kesc reconcile`: compares what a rail says with what the book says. Changes nothing without
 * `--apply`. Exits with 1 if they differ.
 */
export function addReconcile(program: Command): void {
  program
    .command("reconcile")
    .description("compare the book with a statement of the rail, or with what the rail says came in")
    .addArgument(new Argument("<rail>", "name of the rail").choices(WITH_STATEMENT.map(({ name }) => name)))
    .argument("[file]", "the statement of the account, as the rail's portal exports it: CSV")
    .requiredOption("--org <organization>", "id or name of the organization")
    .option(
      "--from <time>",
      "begin of the statement (default: its first movement), such as 2026-11-22T00:00:00Z",
      timeOf,
    )
    .option("--to <time>", "end of the statement (default: its last movement)", timeOf)
    .option("--pull", "without a file: ask the rail what came in. What went out is not compared")
    .option("--hours <hours>", "with --pull: how far back (default: 24)", wholeNumber({ min: 1, max: HOURS_MAX }))
    .option(
      "--apply",
      "with --pull: tell the ledger each payment that it lacks and that names one of its mints; with a file: book charges",
    )
    .option(
      "--charge-max <amount>",
      "with --apply and a file: a larger charge for one movement is not booked (default: 200.00)",
      argument(parseAmount),
    )
    .option(...METRICS_FILE)
    .option("--json", "print JSON, for scripts")
    .action(reconcileRail);
}

function timeOf(text: string): UnixMillis {
  const millis = /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(millis)) throw new InvalidArgumentError("It must be a time such as 2026-11-22T00:00:00Z.");
  return toUnixMillis(millis);
}

async function reconcileRail(railName: string, file: string | undefined, options: ReconcileOptions): Promise<void> {
  refuseMixed(file, options);
  const report = await onDatabaseForLong(async (database): Promise<ReconcileReport> => {
    const owner = await findOwner(database, options.org);
    const { id: organizationId } = owner.organization;
    const rail = WITH_STATEMENT.find(({ name }) => name === railName);
    if (rail === undefined) throw new Error(`the command took the rail ${railName}`);
    const book = await bookedMovements(owner.cell, { organizationId, rail: rail.name });
    return file === undefined
      ? fromPull(owner, book, { ...options, railName: rail.name })
      : fromFile(owner, book, { ...options, file, rail: rail.name, format: rail.statement });
  });
  if (options.metricsFile !== undefined) writeMetricsFile(options.metricsFile, jobMetrics("reconcile", now()));
  if (options.json === true) printJson(reportJson(report));
  else for (const line of reportLines(report)) printLine(line);
  if (breaksOf(report).length > 0 || (report.tie?.unexplainedCents ?? 0n) !== 0n) invocation().exitCode = BREAKS_FOUND;
}

function refuseMixed(file: string | undefined, { pull, from, to, hours, apply, chargeMax }: ReconcileOptions): void {
  if ((file === undefined) !== (pull === true)) {
    throw new UsageError("Name the file of a statement, or ask the rail with --pull.");
  }
  if (pull === true && (from !== undefined || to !== undefined)) {
    throw new UsageError("--from and --to are for a file. With --pull, say --hours.");
  }
  if (pull !== true && hours !== undefined) throw new UsageError("--hours is for --pull only.");
  if (chargeMax !== undefined && (pull === true || apply !== true)) {
    throw new UsageError("--charge-max is for a file with --apply only.");
  }
}

interface FromFile extends ReconcileOptions {
  readonly file: string;
  readonly format: StatementFormat;
  readonly rail: Rail;
}

async function fromFile(owner: FoundOwner, book: BookedMovements, options: FromFile): Promise<ReconcileReport> {
  const { id: organizationId, name } = owner.organization;
  const { file, format, rail, from, to, apply, chargeMax: chargeMaxCents = CHARGE_MAX_CENTS } = options;
  const records = () => csvRecords(file, { recordBytesMax: RECORD_BYTES_MAX });
  const statement: Statement = { name: file, format, records };
  try {
    const booking = { cell: owner.cell, organizationId, rail, book, chargeMaxCents };
    const chargesBooked = apply === true ? await applyCharges(await chargesIn(statement), booking) : 0;
    const history: History = {
      organizationId,
      reads: historyReads(owner.cell),
      inTurn: async (read) => (await read()).result,
    };
    const tie = await readTie(history, rail);
    const period = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
    const compared = await compareStatement(statement, { book, tie, ...period });
    return { organizationId, name, chargesBooked, applied: [], ...compared };
  } catch (error) {
    if (error instanceof StatementError) throw new OperatorError(error.message, { cause: error });
    throw error;
  }
}

async function fromPull(
  owner: FoundOwner,
  book: BookedMovements,
  { railName, hours = HOURS, apply }: ReconcileOptions & { readonly railName: string },
): Promise<ReconcileReport> {
  const { id: organizationId, name } = owner.organization;
  const rail = await openAccount(owner, railName);
  const period = pulledPeriod(now(), hours);
  const payments = await pullReceived(rail, period);
  const applied =
    apply === true ? await applyReceived(payments, { cell: owner.cell, organizationId, rail: rail.name, book }) : [];
  const reconciled = await reconcile(receivedMovements(payments), onlyReceived(book), { period: () => period });
  return { organizationId, name, facts: undefined, chargesBooked: 0, applied, period, reconciled, tie: undefined };
}
