import { Argument, type Command, InvalidArgumentError } from "commander";

import type { Rail } from "../../domain/transaction.js";
import { type Cents, parseAmount, toCents } from "../../domain/values/cents.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import { RAILS } from "../../rails/rails.js";
import type { BookedMovements } from "../../reconcile/ports.js";
import { reconcile } from "../../reconcile/reconcile.js";
import type { ReconciledPeriod, Reconciliation } from "../../reconcile/reconciliation.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { invocation } from "../../startup/invocation.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError, UsageError } from "../../startup/operator-error.js";
import { bookedMovements } from "../../storage/rails/booked-movements.js";
import { argument, wholeNumber } from "../commands/arguments.js";
import { printJson, printLine } from "../commands/output.js";
import { jobMetrics, METRICS_FILE, writeMetricsFile } from "../metrics-file.js";
import { findOwner, type FoundOwner } from "../organizations.js";
import { openAccount } from "../rail/open-account.js";
import { applyCharges } from "./apply-charges.js";
import { applyReceived } from "./apply-received.js";
import { onlyReceived, pulledPeriod, pullReceived, receivedMovements } from "./received.js";
import { breaksOf, type ReconcileReport, reportJson, reportLines } from "./report.js";
import { chargesIn, type StatementFacts, type StatementFile, statementMovements } from "./statement-file.js";
import { explainedTie, readTie } from "./tie.js";

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
  const { database: address } = configFromEnvironment();
  const report = await withCurrentDatabase(
    address,
    async (database): Promise<ReconcileReport> => {
      const owner = await findOwner(database, options.org);
      const { id: organizationId } = owner.organization;
      const rail = WITH_STATEMENT.find(({ name }) => name === railName);
      if (rail === undefined) throw new Error(`the command took the rail ${railName}`);
      const book = await bookedMovements(owner.cell, { organizationId, rail: rail.name });
      return file === undefined
        ? fromPull(owner, book, { ...options, railName: rail.name })
        : fromFile(owner, book, { ...options, file, rail: rail.name, format: rail.statement });
    },
    { statementMillisMax: 0 },
  );
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

interface FromFile extends ReconcileOptions, StatementFile {
  readonly rail: Rail;
}

async function fromFile(owner: FoundOwner, book: BookedMovements, options: FromFile): Promise<ReconcileReport> {
  const { id: organizationId, name } = owner.organization;
  const { file, rail, from, to, apply, chargeMax: chargeMaxCents = CHARGE_MAX_CENTS } = options;
  const booking = { cell: owner.cell, organizationId, rail, book, chargeMaxCents };
  const chargesBooked = apply === true ? await applyCharges(await chargesIn(options), booking) : 0;
  const facts: StatementFacts = { charges: new Map(), notCompleted: 0, period: undefined };
  const period = (): ReconciledPeriod | undefined => {
    const start = from ?? facts.period?.from;
    const end = to ?? facts.period?.to;
    return start === undefined || end === undefined ? undefined : { from: start, to: end };
  };
  const tie = await readTie(owner, rail);
  const reconciled = await reconcile(statementMovements(options, facts), book, { period, tieAt: tie?.at });
  const compared = periodOf(file, period(), reconciled.movements);
  const explained = tie && explainedTie(tie, reconciled);
  return { organizationId, name, facts, chargesBooked, applied: [], period: compared, reconciled, tie: explained };
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

/** Without a movement and without a period, nothing was compared: that is no agreement. */
function periodOf(file: string, period: ReconciledPeriod | undefined, { onRail }: Reconciliation): ReconciledPeriod {
  if (period !== undefined && period.from <= period.to) return period;
  const found = onRail.count === 0 ? "has no movement" : "ends before it begins";
  throw new OperatorError(
    `${file} ${found}, so there is no period to compare. Give the period of the statement: --from TIME --to TIME`,
  );
}
