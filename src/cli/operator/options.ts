import { type Command, InvalidArgumentError } from "commander";

import type { RailReceipt } from "../../domain/payment.js";
import type { Decider } from "../../domain/proposal.js";
import { type Cents, parseAmount } from "../../domain/values/cents.js";
import { parseReference, type StatusReason } from "../../domain/values/text.js";
import { nonEmptyName, statusReason } from "../commands/arguments.js";

/** What every command has that may need a second person. */
export interface OperatorOptions {
  readonly org: string;
  readonly person: Decider;
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

/** Parses the name of a person. Throws an error that Commander prints. */
export function operatorName(text: string): Decider {
  return nonEmptyName(text) as Decider;
}
