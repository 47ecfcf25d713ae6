import { type Command, InvalidArgumentError } from "commander";

import { type Cents, formatCents } from "../../domain/values/cents.js";
import { type NairobiDay, nairobiDayOf, parseNairobiDay } from "../../domain/values/nairobi-day.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { recordReserve } from "../../storage/statements/reserve.js";
import { amountOrZero, nonEmptyName } from "../commands/arguments.js";
import { printLine } from "../commands/output.js";
import { findOwner } from "../organizations.js";

/** Adds `kesc reserve record`. */
export function addReserve(reserve: Command): void {
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

function pastDay(text: string): NairobiDay {
  const day = parseNairobiDay(text);
  if (!day.ok) throw new InvalidArgumentError(`It ${day.problem}.`);
  if (day.value > nairobiDayOf(now())) throw new InvalidArgumentError("It must not be in the future.");
  return day.value;
}
