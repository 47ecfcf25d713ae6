import { type Command, Option } from "commander";
import { typeidUnboxed } from "typeid-js";

import type { ClearFlag, ResolveTransaction } from "../../domain/commands.js";
import { FLAG_REASONS, type FlagReason, type RailReceipt, type Resolution } from "../../domain/payment.js";
import { OPERATOR } from "../../domain/values/actor.js";
import { type Cents, formatCents } from "../../domain/values/cents.js";
import { parseTransactionId, type ProposalId, type TransactionId } from "../../domain/values/ids.js";
import { messageOf } from "../../grpc/errors/status.js";
import type { Outcome } from "../../ledger/ports/outcome.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { resolveAloneMaxCents } from "../../storage/rails/alone-max.js";
import { statusReason } from "../commands/arguments.js";
import { printLine } from "../commands/output.js";
import { commitAsOperator } from "../commit-as-operator.js";
import { findOwner } from "../organizations.js";
import { addOperatorOptions, amountOf, operatorName, type OperatorOptions, receiptOf } from "./options.js";

const WRONG_USAGE = 2;

const OUTCOMES = ["completed", "failed", "moved"] as const;

interface ResolveOptions extends OperatorOptions {
  readonly outcome: (typeof OUTCOMES)[number];
  readonly receipt?: RailReceipt;
  readonly amount?: Cents;
}

/** `kesc resolve` and `kesc clear-flag`: a person settles a transaction that needs attention. */
export function addResolve(program: Command): void {
  addOperatorOptions(
    program
      .command("resolve")
      .description("end a transaction whose outcome the rail does not tell, by what you found out")
      .argument("<transaction-id>", 'id of the transaction ("txn_…")'),
  )
    .addOption(new Option("--outcome <outcome>", "what happened").choices(OUTCOMES).makeOptionMandatory())
    .option("--receipt <receipt>", "the rail's receipt, of completed and moved", receiptOf)
    .option("--amount <amount>", "what really moved, of moved", amountOf)
    .action(resolve);
  program
    .command("clear-flag")
    .description("clear a flag of a transaction, after you have looked at its cause")
    .argument("<transaction-id>", 'id of the transaction ("txn_…")')
    .addOption(new Option("--flag <flag>", "the flag to clear").choices(FLAG_REASONS).makeOptionMandatory())
    .requiredOption("--org <organization>", "id or name of the organization")
    .requiredOption("--person <name>", "who has looked", operatorName)
    .requiredOption("--reason <text>", "reason for the journal, without personal data", statusReason)
    .action(clearFlag);
}

async function resolve(text: string, options: ResolveOptions): Promise<void> {
  const { org, person, reason, yes } = options;
  const transactionId = transactionIdOf(text);
  const resolution = resolutionOf(options);
  const { database: address } = configFromEnvironment();
  await withCurrentDatabase(address, async (database) => {
    const { organization, cell } = await findOwner(database, org);
    const aloneMaxCents = await resolveAloneMaxCents(cell, transactionId);
    if (yes !== true) throw new OperatorError(intentOf(transactionId, resolution, aloneMaxCents), WRONG_USAGE);
    const command: ResolveTransaction = {
      name: "resolveTransaction",
      organizationId: organization.id,
      actor: OPERATOR,
      transactionId,
      newTransactionId: typeidUnboxed("txn") as string as TransactionId,
      resolution,
      person,
      mayApprove: true,
      lapses: true,
      newProposalId: typeidUnboxed("prp") as string as ProposalId,
      aloneMaxCents,
      reason,
    };
    const { resource, replayed } = done(await commitAsOperator(cell, command));
    if (resource.status === "PROCESSING") {
      printLine(
        `Proposed by ${person}. ${transactionId} stays PROCESSING until another person says the same: ` +
          `the amount is above ${formatCents(aloneMaxCents)}.`,
      );
      return;
    }
    const again = replayed ? " It was resolved before." : "";
    for (const each of [resource, ...(resource.correction === undefined ? [] : [resource.correction])]) {
      const corrects = each.corrects === undefined ? "" : ` It corrects ${each.corrects.transactionId}.`;
      printLine(`${each.id} is ${each.status}, ${formatCents(each.amountCents)} KESC.${corrects}${again}`);
    }
  });
}

async function clearFlag(
  text: string,
  { org, flag, person, reason }: Pick<OperatorOptions, "org" | "person" | "reason"> & { readonly flag: FlagReason },
): Promise<void> {
  const transactionId = transactionIdOf(text);
  const { database: address } = configFromEnvironment();
  await withCurrentDatabase(address, async (database) => {
    const { organization, cell } = await findOwner(database, org);
    const command: ClearFlag = {
      name: "clearFlag",
      organizationId: organization.id,
      actor: OPERATOR,
      transactionId,
      flag,
      person,
      reason,
    };
    const { resource, replayed } = done(await commitAsOperator(cell, command));
    const left =
      resource.openFlags.length === 0 ? "It needs no attention any more." : `Left: ${resource.openFlags.join(", ")}.`;
    printLine(replayed ? `The flag ${flag} is not up. ${left}` : `Cleared ${flag} of ${transactionId}. ${left}`);
  });
}

function transactionIdOf(text: string): TransactionId {
  const id = parseTransactionId(text);
  if (!id.ok) throw new OperatorError(`The id of the transaction ${id.problem}.`, WRONG_USAGE);
  return id.value;
}

/** Throws an OperatorError if the options do not fit the outcome. */
function resolutionOf({ outcome, receipt, amount }: ResolveOptions): Resolution {
  switch (outcome) {
    case "completed":
      if (receipt !== undefined && amount === undefined) return { kind: "COMPLETED", receipt };
      throw new OperatorError("--outcome completed needs --receipt, and no --amount.", WRONG_USAGE);
    case "failed":
      if (receipt === undefined && amount === undefined) return { kind: "FAILED" };
      throw new OperatorError("--outcome failed has no --receipt and no --amount: nothing moved.", WRONG_USAGE);
    case "moved":
      if (receipt !== undefined && amount !== undefined) return { kind: "MOVED", receipt, amountCents: amount };
      throw new OperatorError("--outcome moved needs --receipt and --amount.", WRONG_USAGE);
  }
}

function intentOf(id: TransactionId, resolution: Resolution, aloneMaxCents: number): string {
  const consequence = {
    COMPLETED: "end it as COMPLETED, with the receipt",
    FAILED:
      "end it as FAILED, and release the hold of a redemption. If the rail has moved shillings after all, they are lost",
    MOVED: "end it as FAILED, and book what really moved as a correction",
  }[resolution.kind];
  return (
    `${id}: this would ${consequence}. ` +
    `Above ${formatCents(aloneMaxCents)} it would be a proposal, and a second person decides. ` +
    "Nothing was done. To do it, add --yes."
  );
}

/** Throws an OperatorError if the command was refused. */
function done<Resource>(outcome: Outcome<Resource>): Outcome<Resource> & { kind: "done" } {
  if (outcome.kind === "refused") throw new OperatorError(messageOf(outcome.refusal));
  return outcome;
}
