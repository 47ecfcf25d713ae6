import type { Command } from "commander";

import type { BookHead } from "../../domain/book.js";
import type { CorrectBook } from "../../domain/commands.js";
import type { RailReceipt } from "../../domain/payment.js";
import { OPERATOR } from "../../domain/values/actor.js";
import { type Cents, formatCents } from "../../domain/values/cents.js";
import { type AccountId, parseAccountId } from "../../domain/values/ids.js";
import { type IdempotencyKey, parseIdempotencyKey } from "../../domain/values/text.js";
import { messageOf } from "../../grpc/errors/message.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { correctAloneMaxCents } from "../../storage/rails/alone-max.js";
import { standingProposer } from "../../storage/rails/proposals.js";
import { decimalOf } from "../../verify/format.js";
import { printLine } from "../commands/output.js";
import { commitAsOperator } from "../commit-as-operator.js";
import { findOwner } from "../organizations.js";
import { addOperatorOptions, amountOf, type OperatorOptions, receiptOf } from "./options.js";

const WRONG_USAGE = 2;

interface Correction {
  readonly command: string;
  readonly name: CorrectBook["name"];
  readonly description: string;
  readonly target: "account" | "receipt" | undefined;
}

const CORRECTIONS: readonly Correction[] = [
  {
    command: "cover",
    name: "coverShortfall",
    description: "shillings were put back for a shortfall",
    target: undefined,
  },
  { command: "recover", name: "recoverShortfall", description: "an account pays for a shortfall", target: "account" },
  { command: "receive", name: "bookReceipt", description: "shillings came in for nobody", target: "receipt" },
  { command: "allocate", name: "allocate", description: "give unallocated shillings to an account", target: "account" },
  { command: "return", name: "returnUnallocated", description: "unallocated shillings went back", target: "receipt" },
];

interface CorrectionOptions extends OperatorOptions {
  readonly amount: Cents;
  readonly key: string;
  readonly account?: string;
  readonly receipt?: RailReceipt;
}

/** Adds the corrections of a book to `kesc book`. */
export function addCorrections(book: Command): void {
  for (const correction of CORRECTIONS) {
    const command = addOperatorOptions(book.command(correction.command).description(correction.description))
      .requiredOption("--amount <amount>", "KES, such as 100.00", amountOf)
      .requiredOption(
        "--key <key>",
        "your name for this correction: the same key does it once, however often it is sent",
      );
    if (correction.target === "account") command.requiredOption("--account <account-id>", 'the account ("acc_…")');
    if (correction.target === "receipt") command.requiredOption("--receipt <receipt>", "the rail's receipt", receiptOf);
    command.action((options: CorrectionOptions) => correct(correction, options));
  }
}

async function correct(correction: Correction, options: CorrectionOptions): Promise<void> {
  const { database: address } = configFromEnvironment();
  await withCurrentDatabase(address, async (database) => {
    const { organization, cell } = await findOwner(database, options.org);
    const { id: organizationId } = organization;
    const aloneMaxCents = await correctAloneMaxCents(cell, organizationId);
    const { person, reason, amount: amountCents } = options;
    if (options.yes !== true) throw new OperatorError(intentOf(correction, amountCents, aloneMaxCents), WRONG_USAGE);
    const given = {
      organizationId,
      actor: OPERATOR,
      person,
      aloneMaxCents,
      reason,
      amountCents,
      idempotencyKey: keyOf(options.key),
    };
    const outcome = await commitAsOperator(cell, commandOf(correction, given, options));
    if (outcome.kind === "refused") throw new OperatorError(messageOf(outcome.refusal));
    const { resource, replayed } = outcome;
    const proposedBy = await standingProposer(cell, `${organizationId}:${given.idempotencyKey}`);
    if (proposedBy === undefined) printLine(`${replayed ? "Done before" : "Done"}. ${sumsOf(resource)}`);
    else {
      printLine(
        `Proposed by ${proposedBy}. Nothing moves until another person sends the same with the key ${options.key}: ` +
          `the amount is above ${formatCents(aloneMaxCents)}.`,
      );
    }
  });
}

type Given = Omit<CorrectBook, "name" | "accountId" | "receipt">;

function commandOf({ name }: Correction, given: Given, { account = "", receipt }: CorrectionOptions): CorrectBook {
  switch (name) {
    case "coverShortfall":
      return { ...given, name };
    case "recoverShortfall":
    case "allocate":
      return { ...given, name, accountId: accountIdOf(account) };
    case "returnUnallocated":
    case "bookReceipt":
      // Commander requires the option.
      if (receipt === undefined) throw new Error("there is no receipt");
      return { ...given, name, receipt };
  }
}

function accountIdOf(text: string): AccountId {
  const id = parseAccountId(text);
  if (!id.ok) throw new OperatorError(`The id of the account ${id.problem}.`, WRONG_USAGE);
  return id.value;
}

function keyOf(text: string): IdempotencyKey {
  const key = parseIdempotencyKey(text);
  if (!key.ok) throw new OperatorError(`--key ${key.problem}.`, WRONG_USAGE);
  return key.value;
}

function intentOf({ description }: Correction, amountCents: Cents, aloneMaxCents: number): string {
  return (
    `This would book ${formatCents(amountCents)} KES: ${description}. ` +
    `Above ${formatCents(aloneMaxCents)} it would be a proposal, and a second person decides. ` +
    "Nothing was done. To do it, add --yes."
  );
}

function sumsOf({ sums }: BookHead): string {
  const { reserve, available, held, unallocated, shortfall } = sums;
  return (
    `The book: reserve ${decimalOf(reserve)}, available ${decimalOf(available)}, held ${decimalOf(held)}, ` +
    `unallocated ${decimalOf(unallocated)}, shortfall ${decimalOf(shortfall)}.`
  );
}
