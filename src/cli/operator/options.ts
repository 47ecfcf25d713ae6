import { type Command, InvalidArgumentError } from "commander";

import type { RailReceipt } from "../../domain/payment.js";
import type { OperatorName } from "../../domain/proposal.js";
import { type Cents, parseAmount } from "../../domain/values/cents.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { parseReference, type StatusReason } from "../../domain/values/text.js";
import { now } from "../../startup/clock.js";
import type { Cell, Database } from "../../storage/database.js";
import { keys } from "../../storage/keys.js";
import { aloneMaxCents } from "../../storage/rails/alone-max.js";
import { nonEmptyName, statusReason } from "../commands/arguments.js";
import { findOrganization } from "../commands/org.js";

/** What every command has that may need a second person. */
export interface OperatorOptions {
  readonly org: string;
  readonly person: OperatorName;
  readonly reason: StatusReason;
  readonly yes?: true;
}

/** Adds the options of a command that may need a second person. */
export function addOperatorOptions(command: Command): Command {
  return command
    .requiredOption("--org <organization>", "id or name of the organization")
    .requiredOption("--person <name>", "who decides: above the limit, a second person must say the same", operatorName)
    .requiredOption("--reason <text>", "reason for the journal, without personal data", statusReason)
    .option("--yes", "do it; without this option the command only says what it would do");
}

/** An organization of the command, with the limit up to which one person is enough. */
export interface OperatedBook {
  readonly cell: Cell;
  readonly organizationId: OrganizationId;
  readonly aloneMaxCents: number;
}

export async function operatedBook(database: Database, org: string): Promise<OperatedBook> {
  const { id: organizationId, cell: number } = await findOrganization(keys(database, now), org);
  const cell = database.cells[number];
  if (cell === undefined) throw new Error(`there is no cell ${String(number)}`);
  return { cell, organizationId, aloneMaxCents: await aloneMaxCents(cell, organizationId) };
}

/** Parses an amount such as 100.00. Throws an error that Commander prints. */
export function amountOf(text: string): Cents {
  const amount = parseAmount(text);
  if (!amount.ok) throw new InvalidArgumentError(`It ${amount.problem}.`);
  return amount.value;
}

/** Parses the receipt of a rail. Throws an error that Commander prints. */
export function receiptOf(text: string): RailReceipt {
  const receipt = parseReference(text);
  if (!receipt.ok) throw new InvalidArgumentError(`It ${receipt.problem}.`);
  return receipt.value as string as RailReceipt;
}

function operatorName(text: string): OperatorName {
  return nonEmptyName(text) as OperatorName;
}
