import { type Command, InvalidArgumentError } from "commander";

import { type Cents, formatCents } from "../../domain/values/cents.js";
import { endOfDay, type NairobiDay, nairobiDayOf, parseNairobiDay } from "../../domain/values/nairobi-day.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { historyReads } from "../../storage/statements/history.js";
import { recordReserve } from "../../storage/statements/reserve.js";
import { amountOrZero, nonEmptyName } from "../commands/arguments.js";
import { printJson, printLine, printTable, timeOf } from "../commands/output.js";
import { findOwner } from "../organizations.js";
import { ageSeconds, ageWords } from "./age.js";

/** `kesc reserve`: where an organization's shillings lie, with evidence. */
export function addReserve(program: Command): void {
  const reserve = program.command("reserve").description("where an organization's shillings lie, with evidence");
  reserve
    .command("record")
    .description("record in the organization's book what lies in one place at the end of a day")
    .argument("<organization>", "id or name of the organization")
    .requiredOption(
      "--place <name>",
      'such as "KCB 1234": a new figure replaces the last one of the place',
      nonEmptyName,
    )
    .requiredOption("--amount <amount>", "shillings in the place, such as 1000.00, or 0", amountOrZero)
    .requiredOption("--as-of <day>", "the figure holds for the end of this day in Kenya, such as 2026-11-21", pastDay)
    .requiredOption("--evidence <text>", "what shows it, such as the number of a bank statement", nonEmptyName)
    .action(record);
  reserve
    .command("list")
    .description("list the last figure of each place, with its age")
    .argument("<organization>", "id or name of the organization")
    .option("--json", "print JSON, for scripts")
    .action(list);
}

interface RecordOptions {
  readonly place: string;
  readonly amount: Cents;
  readonly asOf: NairobiDay;
  readonly evidence: string;
}

async function record(org: string, { place, amount, asOf, evidence }: RecordOptions): Promise<void> {
  const { database: address } = configFromEnvironment();
  await withCurrentDatabase(address, async (database) => {
    const { organization, cell } = await findOwner(database, org);
    const figure = { place, amountCents: amount, asOfDay: asOf, evidence };
    const seq = await recordReserve(cell, { organizationId: organization.id, figure, now: now() });
    printLine(`Recorded ${formatCents(amount)} in ${place} at the end of ${asOf}, in row ${String(seq)} of the book.`);
  });
}

async function list(org: string, { json }: { json?: true }): Promise<void> {
  const { database: address } = configFromEnvironment();
  const places = await withCurrentDatabase(address, async (database) => {
    const { organization, cell } = await findOwner(database, org);
    return historyReads(cell).reserveHoldings(organization.id);
  });
  if (json === true) {
    printJson(
      places.map(({ place, amountCents, asOfDay, evidence, recordedAt, seq }) => ({
        place,
        amount: formatCents(amountCents),
        as_of_day: asOfDay,
        age_seconds: ageSeconds(endOfDay(asOfDay)),
        evidence,
        recorded_at: timeOf(recordedAt),
        sequence: seq,
      })),
    );
  } else if (places.length === 0) {
    printLine(
      "No figures yet. Record one: kesc reserve record ORG --place NAME --amount A --as-of DAY --evidence TEXT",
    );
  } else {
    printTable([
      ["PLACE", "AMOUNT", "AS OF", "AGE", "EVIDENCE"],
      ...places.map((each) => [
        each.place,
        formatCents(each.amountCents),
        each.asOfDay,
        ageWords(endOfDay(each.asOfDay)),
        each.evidence,
      ]),
    ]);
  }
}

function pastDay(text: string): NairobiDay {
  const day = parseNairobiDay(text);
  if (!day.ok) throw new InvalidArgumentError(`It ${day.problem}.`);
  if (day.value > nairobiDayOf(now())) throw new InvalidArgumentError("It must not be in the future.");
  return day.value;
}
