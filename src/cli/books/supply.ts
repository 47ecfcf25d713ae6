import type { Command } from "commander";

import { formatCents } from "../../domain/values/cents.js";
import { endOfDay } from "../../domain/values/nairobi-day.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import type { RecordedFigure, ReportedBalance, SumsAt } from "../../statements/ports.js";
import { type BookSummary, listBooks } from "../../storage/books.js";
import type { Cell, Database } from "../../storage/database.js";
import { historyReads } from "../../storage/statements/history.js";
import { printJson, printLine, printTable, timeOf } from "../commands/output.js";
import { ageSeconds, ageWords } from "./age.js";

/** `kesc supply`: what all organizations owe, and what is known about the shillings behind it. */
export function addSupply(program: Command): void {
  program
    .command("supply")
    .description("what is in circulation in each book, and what backs it, each figure with its age")
    .option("--json", "print JSON, for scripts")
    .action(showSupply);
}

interface BookSupply {
  readonly book: BookSummary;
  readonly current: SumsAt & { readonly recordedAt: UnixMillis };
  readonly places: readonly RecordedFigure[];
  readonly balances: readonly ReportedBalance[];
}

async function showSupply({ json }: { json?: true }): Promise<void> {
  const { database: address } = configFromEnvironment();
  const supplies = await withCurrentDatabase(address, suppliesOf);
  if (json === true) {
    printJson(supplies.map(supplyJson));
    return;
  }
  if (supplies.length === 0) {
    printLine("No organizations yet. Create one: kesc org create --name NAME");
    return;
  }
  printTable([
    ["ORGANIZATION", "IN CIRCULATION", "RESERVE (BOOK)", "RECORDED", "OLDEST", "REPORTED BY RAILS", "OLDEST", "NAME"],
    ...supplies.map(rowOf),
  ]);
}

async function suppliesOf(database: Database): Promise<BookSupply[]> {
  const supplies: BookSupply[] = [];
  for (const book of await listBooks(database)) {
    // The other place counts it.
    if (book.move !== undefined && book.move.phase !== "LEAVING") continue;
    const reads = historyReads(database.cells[book.cell] as Cell);
    const { organizationId } = book;
    supplies.push({
      book,
      current: await reads.currentSums(organizationId),
      places: await reads.reserveHoldings(organizationId),
      balances: await reads.railBalances(organizationId),
    });
  }
  return supplies;
}

/** A sum is only as good as its oldest figure, so the row names that one's age. */
function rowOf({ book, current, places, balances }: BookSupply): string[] {
  const { sums } = current;
  const recorded = places.map(({ amountCents, asOfDay }) => [amountCents, endOfDay(asOfDay)] as const);
  const reported = balances
    .filter(({ currency }) => currency === "KES")
    .map(({ availableCents, reportedAt }) => [availableCents, reportedAt] as const);
  return [
    book.organizationId,
    signed(sums.available + sums.held),
    signed(sums.reserve),
    ...sumAndAge(recorded),
    ...sumAndAge(reported),
    book.name,
  ];
}

function sumAndAge(figures: readonly (readonly [cents: number, at: UnixMillis])[]): [string, string] {
  const oldest = figures.reduce<UnixMillis | undefined>(
    (found, [, at]) => (found === undefined || at < found ? at : found),
    undefined,
  );
  if (oldest === undefined) return ["unknown", "-"];
  return [signed(figures.reduce((sum, [cents]) => sum + cents, 0)), ageWords(oldest)];
}

function supplyJson({ book, current, places, balances }: BookSupply): Readonly<Record<string, unknown>> {
  const { sums, seq, recordedAt } = current;
  return {
    organization_id: book.organizationId,
    name: book.name,
    in_circulation: signed(sums.available + sums.held),
    available: signed(sums.available),
    held: signed(sums.held),
    reserve: signed(sums.reserve),
    shortfall: signed(sums.shortfall),
    unallocated: signed(sums.unallocated),
    as_of_sequence: seq,
    as_of_time: timeOf(recordedAt),
    read_at: timeOf(now()),
    reserve_holdings: places.map(({ place, amountCents, asOfDay, evidence }) => ({
      place,
      amount: signed(amountCents),
      as_of_day: asOfDay,
      age_seconds: ageSeconds(endOfDay(asOfDay)),
      evidence,
    })),
    rail_balances: balances.map(({ rail, name, currency, availableCents, reportedAt }) => ({
      rail,
      name,
      currency,
      available: signed(availableCents),
      reported_at: timeOf(reportedAt),
      age_seconds: ageSeconds(reportedAt),
    })),
  };
}

function signed(cents: number): string {
  return `${cents < 0 ? "-" : ""}${formatCents(Math.abs(cents))}`;
}
