import { type Command, Option } from "commander";
import { typeidUnboxed } from "typeid-js";

import type { BookHead } from "../../domain/book.js";
import type { CorrectBook } from "../../domain/commands.js";
import type { RailReceipt } from "../../domain/payment.js";
import { OPERATOR } from "../../domain/values/actor.js";
import { type Cents, formatCents } from "../../domain/values/cents.js";
import { type AccountId, parseAccountId, type ProposalId } from "../../domain/values/ids.js";
import { type IdempotencyKey, parseIdempotencyKey } from "../../domain/values/text.js";
import { messageOf } from "../../grpc/errors/status.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { standingProposer } from "../../storage/operators/book-proposals.js";
import { correctAloneMaxCents } from "../../storage/rails/alone-max.js";
import { decimalOf } from "../../verify/format.js";
import { printLine } from "../commands/output.js";
import { commitAsOperator } from "../commit-as-operator.js";
import { findOwner } from "../organizations.js";
import { addOperatorOptions, amountOf, type OperatorOptions, receiptOf } from "./options.js";

const WRONG_USAGE = 2;

type Target = "account" | "maybe account" | "receipt" | "movement" | "direction";

interface CorrectionCommand {
  readonly command: string;
  readonly name: CorrectBook["name"];
  readonly description: string;
  readonly targets: readonly Target[];
}

const CORRECTIONS: readonly CorrectionCommand[] = [
  { command: "cover", name: "coverShortfall", description: "shillings were put back for a shortfall", targets: [] },
  {
    command: "recover",
    name: "recoverShortfall",
    description: "an account pays for a shortfall",
    targets: ["account"],
  },
  { command: "receive", name: "bookReceipt", description: "shillings came in for nobody", targets: ["receipt"] },
  {
    command: "allocate",
    name: "allocate",
    description: "give unallocated shillings to an account",
    targets: ["account"],
  },
  {
    command: "return",
    name: "returnUnallocated",
    description: "unallocated shillings went back",
    targets: ["receipt"],
  },
  {
    command: "paid",
    name: "bookPayment",
    description: "shillings went out without an order: --account pays for them, or they are missing",
    targets: ["receipt", "maybe account"],
  },
  {
    command: "adjust",
    name: "adjustMovement",
    description: "more came in or went out than the book has of a movement: --account gets or pays it",
    targets: ["movement", "direction", "maybe account"],
  },
  {
    command: "transfer",
    name: "explainTransfer",
    description: "shillings moved between the rail and another place of yours, such as the bank",
    targets: ["receipt", "direction"],
  },
];

interface CorrectionOptions extends OperatorOptions {
  readonly amount: Cents;
  readonly key: string;
  readonly account?: string;
  readonly receipt?: RailReceipt;
  readonly movement?: string;
  readonly direction?: "in" | "out";
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
    for (const target of correction.targets) addTarget(command, target);
    command.action((options: CorrectionOptions) => correct(correction, options));
  }
}

function addTarget(command: Command, target: Target): void {
  switch (target) {
    case "account":
      command.requiredOption("--account <account-id>", 'the account ("acc_…")');
      return;
    case "maybe account":
      command.option("--account <account-id>", 'the account ("acc_…")');
      return;
    case "receipt":
      command.requiredOption("--receipt <receipt>", "the rail's receipt", receiptOf);
      return;
    case "movement":
      command.requiredOption("--movement <name>", "receipt of the movement, or id of its transaction", receiptOf);
      return;
    case "direction":
      command.addOption(
        new Option("--direction <direction>", "into the rail's account, or out of it")
          .choices(["in", "out"])
          .makeOptionMandatory(),
      );
  }
}

async function correct(correction: CorrectionCommand, options: CorrectionOptions): Promise<void> {
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
      mayApprove: true,
      newProposalId: typeidUnboxed("prp") as string as ProposalId,
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

type GivenCorrection = Omit<CorrectBook, "name" | "accountId" | "receipt" | "movement" | "direction">;

function commandOf({ name }: CorrectionCommand, given: GivenCorrection, options: CorrectionOptions): CorrectBook {
  const { account, receipt, movement, direction } = options;
  const accountId = account === undefined ? undefined : accountIdOf(account);
  switch (name) {
    case "coverShortfall":
      return { ...given, name };
    case "recoverShortfall":
    case "allocate":
      return { ...given, name, accountId: required(accountId) };
    case "returnUnallocated":
    case "bookReceipt":
      return { ...given, name, receipt: required(receipt) };
    case "bookPayment":
      return { ...given, name, receipt: required(receipt), accountId };
    case "adjustMovement":
      return { ...given, name, movement: required(movement), direction: required(direction), accountId };
    case "explainTransfer":
      return { ...given, name, receipt: required(receipt), direction: required(direction) };
  }
}

/** Commander requires the option. */
function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("an option is missing");
  return value;
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

function intentOf({ description }: CorrectionCommand, amountCents: Cents, aloneMaxCents: number): string {
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
