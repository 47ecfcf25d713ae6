import { type Command, InvalidArgumentError, Option } from "commander";

import { BANK_RAIL, type Rail } from "../../domain/transaction.js";
import { type Cents, parseAmount, toCents } from "../../domain/values/cents.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import { type RailKind, statementSettings } from "../../rails/rail-kind.js";
import { RAILS } from "../../rails/rails.js";
import { closingDiffers } from "../../reconcile/banks/closing.js";
import { compareStatement } from "../../reconcile/compare-statement.js";
import { lostNight } from "../../reconcile/lost-night.js";
import type { BookedMovements } from "../../reconcile/ports.js";
import { reconcile } from "../../reconcile/reconcile.js";
import { readTie } from "../../reconcile/tie.js";
import { now } from "../../startup/clock.js";
import { invocation } from "../../startup/invocation.js";
import { onDatabaseForLong } from "../../startup/open-database.js";
import { UsageError } from "../../startup/operator-error.js";
import type { History } from "../../statements/as-of.js";
import { bookedMovements } from "../../storage/rails/booked-movements.js";
import { historyReads } from "../../storage/statements/history.js";
import type { MessageJson } from "../administration/row.js";
import { type PlaceOptions, serverOf, withSession } from "../administration/session.js";
import { argument, statusReason, wholeNumber } from "../commands/arguments.js";
import { printJson, printLine } from "../commands/output.js";
import { columnNames, DATES, formFields, referencePattern } from "../commands/statement-form.js";
import { jobMetrics, METRICS_FILE, writeMetricsFile } from "../metrics-file.js";
import { findOwner, type FoundOwner } from "../organizations.js";
import { openAccount } from "../rail/open-account.js";
import { applyCharges } from "./apply-charges.js";
import { applyReceived } from "./apply-received.js";
import { recordBalance, type ToldClosing } from "./balance.js";
import { bookNight, booksNight, nightFields, type NightOptions } from "./night.js";
import { fromPlace, placeFields, type PlaceOfFile } from "./place.js";
import { toldClosing } from "./place-report.js";
import { nightRowOf, onlyReceived, pulledPeriod, pullReceived, receivedMovements } from "./received.js";
import { breaksOf, type ReconcileReport, reportJson, reportLines } from "./report.js";
import { bytesOf, ofStatement, readAlone } from "./statement-file.js";

const BREAKS_FOUND = 1;
const HOURS = 24;
const CHARGE_MAX_CENTS = toCents(200_00);
// M-Pesa lists no payment that is older.
const HOURS_MAX = 48;

const WITH_STATEMENT = RAILS.flatMap((kind) => {
  const { name, statement } = kind;
  return statement === undefined ? [] : [{ name, kind }];
});

interface ReconcileOptions extends NightOptions, PlaceOptions, PlaceOfFile {
  readonly org: string;
  readonly from?: UnixMillis;
  readonly to?: UnixMillis;
  readonly pull?: true;
  readonly hours?: number;
  readonly apply?: true;
  readonly chargeMax?: Cents;
  readonly balance?: true;
  readonly json?: true;
  readonly note?: string;
  readonly server?: string;
  readonly metricsFile?: string;
}

/**
 * `kesc reconcile`: compares what a rail says with what the book says. Changes nothing without
 * `--apply`. Exits with 1 if they differ.
 */
export function addReconcile(program: Command): void {
  program
    .command("reconcile")
    .description("compare the book with a statement of a rail or a bank, or with what the rail says came in")
    .argument("[rail]", `name of the rail: ${WITH_STATEMENT.map(({ name }) => name).join(", ")}. None with --place`)
    .argument("[file]", "the statement of the account, as the rail's portal exports it: CSV, .xlsx or HTML")
    .requiredOption("--org <organization>", "id or name of the organization")
    .option(
      "--from <time>",
      "begin of the statement (default: its first movement), such as 2026-11-22T00:00:00Z",
      timeOf,
    )
    .option("--to <time>", "end of the statement (default: its last movement)", timeOf)
    .option("--place <name>", "the bank whose statement the file is: MT940, camt.053, or a table with --columns")
    .option(
      "--source <source>",
      'with --place: the source of its receipts (default: of "KCB 1234" kcb-1234). Without this option and the next ' +
        "four, they are as kesc reserve place has kept them",
    )
    .option("--account <number>", "with --place: the account, if the file has several")
    .option(
      "--columns <list>",
      "with --place: how the bank calls date, and amount or debit and credit, and balance, reference and text if it has them: " +
        '"date=Value Date,debit=Debit,credit=Credit"',
      columnNames,
    )
    .addOption(new Option("--dates <order>", "with --columns: what stands first in 01/02/2026").choices(DATES))
    .option(
      "--reference <pattern>",
      "with --columns: a regular expression for the bank's number, in the column reference or else in text",
      referencePattern,
    )
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
    .option(
      "--record",
      "show what the pay-ins that the book lacks become as deposits; with --yes record them, in one act",
    )
    .option("--resolve", "with a file: show which open orders it ends; with --yes complete them, in one act")
    .option(
      "--balance",
      "with --place: show the figure that its closing balance becomes; with --yes record it, if the day has none",
    )
    .option("--note <text>", "with --record, --resolve or --balance: why", statusReason)
    .option("--yes", "with --record, --resolve or --balance: do it")
    .option(
      "--server <address>",
      "with a file: AdminService that compares it, and does it, with the key in KESC_OPERATOR_KEY " +
        "(default for --record, --resolve and --balance: KESC_OPERATOR_SERVER, or the database)",
    )
    .option("--on-database", "do it in the database, although there are operators; needs --note")
    .option(...METRICS_FILE)
    .option("--json", "print JSON, for scripts")
    .action(reconcileRail);
}

function timeOf(text: string): UnixMillis {
  const millis = /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(millis)) throw new InvalidArgumentError("It must be a time such as 2026-11-22T00:00:00Z.");
  return toUnixMillis(millis);
}

async function reconcileRail(
  given: string | undefined,
  more: string | undefined,
  options: ReconcileOptions,
): Promise<void> {
  const { place } = options;
  const [railName = "", file] =
    place === undefined ? [given, more] : [undefined, more === undefined ? given : undefined];
  if (place === undefined && !WITH_STATEMENT.some(({ name }) => name === railName)) {
    throw new UsageError(
      `Name a rail (${WITH_STATEMENT.map(({ name }) => name).join(", ")}), or the bank with --place.`,
    );
  }
  refuseMixed(file, options);
  const isOfNight = booksNight(options);
  if (options.server !== undefined || (isAct(options) && serverOf(options) !== undefined)) {
    await atServer(place === undefined ? { rail: railName } : placeFields(options), file, options);
    return;
  }
  const report = await onDatabaseForLong(async (database): Promise<ReconcileReport> => {
    const owner = await findOwner(database, options.org);
    const { id: organizationId } = owner.organization;
    if (place !== undefined && file !== undefined) return ofPlace(owner, { ...options, place, file });
    const rail = WITH_STATEMENT.find(({ name }) => name === railName);
    if (rail === undefined) throw new Error(`the command took the rail ${railName}`);
    const book = await bookedMovements(owner.cell, { organizationId, rail: rail.name });
    return file === undefined
      ? fromPull(owner, book, { ...options, railName: rail.name })
      : fromFile(owner, book, { ...options, file, rail: rail.name, kind: rail.kind });
  });
  if (isOfNight) {
    const { organizationId, night } = report;
    const asked = { ...options, organizationId, rail: place === undefined ? (railName as Rail) : BANK_RAIL };
    await withSession(options, (session) => bookNight(session, nightFields(night), asked));
    return;
  }
  const { organizationId, facts, place: bank } = report;
  if (options.balance === true && bank !== undefined) {
    const asked = { ...options, organizationId, file: bank.file, doubts: facts?.doubts ?? [] };
    await withSession(options, (session) => recordBalance(session, toldClosing(bank), asked));
    return;
  }
  if (options.metricsFile !== undefined) writeMetricsFile(options.metricsFile, jobMetrics("reconcile", now()));
  if (options.json === true) printJson(reportJson(report));
  else for (const line of reportLines(report)) printLine(line);
  const isDoubtful = breaksOf(report).length > 0 || (report.facts?.doubts.length ?? 0) > 0;
  const isUnrecorded = closingDiffers(report.place?.closing);
  if (isDoubtful || isUnrecorded || (report.tie?.unexplainedCents ?? 0n) !== 0n) invocation().exitCode = BREAKS_FOUND;
}

/** Lets a server compare the file, and do what the options ask for. */
async function atServer(of: MessageJson, file: string | undefined, options: ReconcileOptions): Promise<void> {
  if (file === undefined) {
    throw new UsageError("A server reads the rail's list by itself. Name a file, or give --on-database with --pull.");
  }
  const { org, json = false } = options;
  const { compareAtServer, reportAtServer } = await import("./at-server.js");
  const bytes = await bytesOf(file);
  await withSession(options, async (session) => {
    const { organizationId, found } = await compareAtServer(session, { org, of, file, bytes });
    const rail = (of["rail"] ?? BANK_RAIL) as Rail;
    if (options.balance === true) {
      const doubts = found["doubts"] as readonly string[];
      const told = found["place"] as ToldClosing;
      await recordBalance(session, told, { ...options, organizationId, file, doubts });
    } else if (!booksNight(options)) reportAtServer(found, json);
    else await bookNight(session, found["lost_night"] as MessageJson, { ...options, organizationId, rail });
  });
}

/** Whether the command does something for a person, once it has compared. */
function isAct(options: ReconcileOptions): boolean {
  return booksNight(options) || options.balance === true;
}

function refuseMixed(file: string | undefined, options: ReconcileOptions): void {
  const { pull, from, to, hours, apply, chargeMax, resolve, note, yes, server, onDatabase, metricsFile } = options;
  refuseMixedPlace(file, options);
  if (server !== undefined && [pull, from, to, apply, metricsFile].some((each) => each !== undefined)) {
    throw new UsageError("--server takes a file, and none of --pull, --from, --to, --apply and --metrics-file.");
  }
  if ((file === undefined) !== (pull === true)) {
    throw new UsageError("Name the file of a statement, or ask the rail with --pull.");
  }
  if (pull === true && (from !== undefined || to !== undefined)) {
    throw new UsageError("--from and --to are for a file. With --pull, say --hours.");
  }
  if (pull !== true && hours !== undefined) throw new UsageError("--hours is for --pull only.");
  if (isAct(options)) {
    if (apply === true) throw new UsageError("Give --apply first, and then --record, --resolve or --balance.");
    if (resolve === true && pull === true) throw new UsageError("--resolve is for a file: the list has no payouts.");
    if (yes === true && note === undefined) throw new UsageError("--yes needs --note TEXT: the words for the book.");
  } else if ([note, yes, onDatabase].some((given) => given !== undefined)) {
    throw new UsageError("--note, --yes and --on-database are for --record, --resolve and --balance only.");
  }
  if (chargeMax !== undefined && (pull === true || apply !== true)) {
    throw new UsageError("--charge-max is for a file with --apply only.");
  }
}

function refuseMixedPlace(file: string | undefined, options: ReconcileOptions): void {
  const { place, columns, dates, reference, pull } = options;
  if (place === undefined) {
    if (options.balance === true) throw new UsageError("--balance is for --place only.");
    if (formFields(options) !== undefined) {
      throw new UsageError("--source, --account, --columns, --dates and --reference are for --place only.");
    }
    return;
  }
  if (file === undefined) throw new UsageError("--place takes one file, and no rail: kesc reconcile --place NAME FILE");
  if (pull === true) throw new UsageError("--place takes no --pull: a bank is asked nothing.");
  if (columns === undefined && (dates !== undefined || reference !== undefined)) {
    throw new UsageError("--dates and --reference are for --columns only.");
  }
}

async function ofPlace(
  owner: FoundOwner,
  options: ReconcileOptions & { readonly place: string; readonly file: string },
): Promise<ReconcileReport> {
  const { id: organizationId, name } = owner.organization;
  const { file, apply } = options;
  return ofStatement(file, async (bytes) => {
    const chargeMaxCents = apply === true ? chargeMaxOf(options) : undefined;
    const history = historyOf(owner);
    const { compared, chargesBooked } = await fromPlace(owner, { ...options, bytes, history, chargeMaxCents });
    return { organizationId, name, chargesBooked, applied: [], ...compared, place: { ...compared, file } };
  });
}

function historyOf({ organization, cell }: FoundOwner): History {
  const inTurn: History["inTurn"] = async (read) => (await read()).result;
  return { organizationId: organization.id, reads: historyReads(cell), inTurn };
}

interface FromFile extends ReconcileOptions {
  readonly file: string;
  readonly kind: RailKind;
  readonly rail: Rail;
}

async function fromFile(owner: FoundOwner, book: BookedMovements, options: FromFile): Promise<ReconcileReport> {
  const { id: organizationId, name } = owner.organization;
  const { file, kind, rail, from, to, apply } = options;
  const account = statementSettings(kind, await book.settings());
  return ofStatement(file, async (bytes) => {
    const statement = { name: file, rail, bytes: Uint8Array.from(bytes), ...account };
    const facts = await readAlone((reading, alone) => reading.ofRail("", statement, alone));
    const booking = { cell: owner.cell, organizationId, rail, book, chargeMaxCents: chargeMaxOf(options) };
    const chargesBooked = apply === true ? await applyCharges(facts.charges, booking) : 0;
    const tie = await readTie(historyOf(owner), rail);
    const period = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
    const compared = await compareStatement(facts, { book, tie, ...period });
    return { organizationId, name, chargesBooked, applied: [], ...compared };
  });
}

function chargeMaxOf({ chargeMax = CHARGE_MAX_CENTS }: ReconcileOptions): Cents {
  return chargeMax;
}

async function fromPull(
  owner: FoundOwner,
  book: BookedMovements,
  { railName, hours = HOURS, apply }: ReconcileOptions & { readonly railName: string },
): Promise<ReconcileReport> {
  const { id: organizationId, name } = owner.organization;
  const rail = await openAccount(owner, railName);
  const period = pulledPeriod(now(), hours);
  const { payments, others } = await pullReceived(rail, period);
  const applied =
    apply === true ? await applyReceived(payments, { cell: owner.cell, organizationId, rail: rail.name, book }) : [];
  const reconciled = await reconcile(receivedMovements(payments), onlyReceived(book), { period: () => period });
  const { breaks } = reconciled.movements;
  const night = lostNight({ rows: payments.map(nightRowOf), breaks, open: [] });
  const shown = { others, facts: undefined, chargesBooked: 0, tie: undefined, night };
  return { organizationId, name, applied, period, reconciled, ...shown };
}
