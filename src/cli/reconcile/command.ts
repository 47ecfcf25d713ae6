import { type Command, InvalidArgumentError } from "commander";

import type { Rail } from "../../domain/transaction.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import { reconcile } from "../../reconcile/reconcile.js";
import type { Period, Reconciliation } from "../../reconcile/reconciliation.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { keys } from "../../storage/keys.js";
import { bookedMovements } from "../../storage/rails/booked-movements.js";
import { findOrganization } from "../commands/org.js";
import { printJson, printLine } from "../commands/output.js";
import { type Report, reportJson, reportLines } from "./report.js";
import { type StatementFacts, statementMovements } from "./statement-file.js";

const BREAKS_FOUND = 1;
const MPESA = "mpesa" as Rail;

interface Options {
  readonly org: string;
  readonly from?: UnixMillis;
  readonly to?: UnixMillis;
  readonly json?: true;
}

/**
 * `kesc reconcile`: compares what a rail says with what the book says. Changes nothing. Exits with
 * 1 if they differ.
 */
export function addReconcile(program: Command): void {
  program
    .command("reconcile")
    .description("compare the book with what a rail says has moved")
    .command("mpesa")
    .description("compare the book with a statement that M-Pesa's portal exported for the shortcode")
    .argument("<file>", "the statement, as CSV")
    .requiredOption("--org <organization>", "id or name of the organization")
    .option(
      "--from <time>",
      "begin of the statement (default: its first movement), such as 2026-11-22T00:00:00Z",
      timeOf,
    )
    .option("--to <time>", "end of the statement (default: its last movement)", timeOf)
    .option("--json", "print JSON, for scripts")
    .action(reconcileMpesa);
}

function timeOf(text: string): UnixMillis {
  const millis = /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(millis)) throw new InvalidArgumentError("It must be a time such as 2026-11-22T00:00:00Z.");
  return toUnixMillis(millis);
}

async function reconcileMpesa(file: string, { org, from, to, json }: Options): Promise<void> {
  const { database: address } = configFromEnvironment();
  const facts: StatementFacts = { charges: 0, chargesCents: 0n, notCompleted: 0, period: undefined };
  const period = (): Period | undefined => {
    const start = from ?? facts.period?.from;
    const end = to ?? facts.period?.to;
    return start === undefined || end === undefined ? undefined : { from: start, to: end };
  };
  const report = await withCurrentDatabase(
    address,
    async (database): Promise<Report> => {
      const { id, name, cell: number } = await findOrganization(keys(database, now), org);
      const cell = database.cells[number];
      if (cell === undefined) throw new Error(`there is no cell ${String(number)}`);
      const book = await bookedMovements(cell, { organizationId: id, rail: MPESA });
      const reconciliation = await reconcile(statementMovements(file, facts), book, period);
      return { organizationId: id, name, facts, period: periodOf(file, period(), reconciliation), reconciliation };
    },
    { statementMillisMax: 0 },
  );
  if (json === true) printJson(reportJson(report));
  else for (const line of reportLines(report)) printLine(line);
  if (report.reconciliation.breaks.length > 0) process.exitCode = BREAKS_FOUND;
}

/** Without a movement and without a period, nothing was compared: that is no agreement. */
function periodOf(file: string, period: Period | undefined, { onRail }: Reconciliation): Period {
  if (period !== undefined && period.from <= period.to) return period;
  const found = onRail.count === 0 ? "has no movement" : "ends before it begins";
  throw new OperatorError(
    `${file} ${found}, so there is no period to compare. Give the period of the statement: --from TIME --to TIME`,
  );
}
