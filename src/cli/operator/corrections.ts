import type { Command } from "commander";

import type { CorrectBook } from "../../domain/book/correct-book.js";
import type { RailReceipt } from "../../domain/payment.js";
import { type Cents, formatCents, parseAmount } from "../../domain/values/cents.js";
import type { AccountId } from "../../domain/values/ids.js";
import type { IdempotencyKey, StatusReason } from "../../domain/values/text.js";
import { messageOf } from "../../grpc/errors/status.js";
import { now } from "../../startup/clock.js";
import { onDatabase } from "../../startup/open-database.js";
import { OperatorError, requireYes } from "../../startup/operator-error.js";
import { StoredAdministration } from "../../storage/operators/administration.js";
import { byMachine } from "../../storage/organizations/commit-now.js";
import { decimalOf } from "../../verify/format.js";
import { addParameters } from "../administration/command.js";
import { refuseUnlessMeant } from "../administration/on-database.js";
import { parametersOf, type WrittenParameter } from "../administration/rows/written.js";
import { argument } from "../commands/arguments.js";
import { printLine } from "../commands/output.js";
import { commitAsOperator } from "../commit-as-operator.js";
import { findOwner } from "../organizations.js";

interface CorrectionCommand {
  readonly command: string;
  readonly name: "bookReceipt" | "allocate" | "returnUnallocated";
  readonly description: string;
}

const AMOUNT = { of: "--amount", parse: argument(parseAmount) } as const satisfies WrittenParameter;
const RECEIPT = { of: "--receipt", help: "the rail's receipt" } as const satisfies WrittenParameter;

/** No rpc serves these. The other corrections are rows of the table. */
const CORRECTIONS: readonly CorrectionCommand[] = [
  { command: "receive", name: "bookReceipt", description: "shillings came in for nobody" },
  { command: "allocate", name: "allocate", description: "give unallocated shillings to an account" },
  { command: "return", name: "returnUnallocated", description: "unallocated shillings went back" },
];

const DATABASE_ONLY =
  "At a server, its operators record a deposit in place of this: kesc deposit record.\n" +
  "book receive, allocate and return work on the database only: add --on-database.";

interface CorrectionOptions {
  readonly org: string;
  readonly amount: Cents;
  readonly key: IdempotencyKey;
  readonly account: AccountId;
  readonly receipt: RailReceipt;
  readonly note: StatusReason;
  readonly onDatabase?: true;
  readonly yes?: true;
}

/** Adds the corrections that are made in the database to `kesc book`. */
export function addCorrections(book: Command): void {
  for (const correction of CORRECTIONS) {
    const parameter = correction.name === "allocate" ? "--account" : RECEIPT;
    const command = book.command(correction.command).description(correction.description);
    addParameters(command, parametersOf(["--org", AMOUNT, parameter, "--key", "--note"]));
    command
      .option("--on-database", "do it in the database, although there are operators")
      .option("--yes", "do it; without this option the command only says what it would do")
      .action((options: CorrectionOptions) => correct(correction, options));
  }
}

async function correct({ name, description }: CorrectionCommand, options: CorrectionOptions): Promise<void> {
  const { org, amount: amountCents, key: idempotencyKey, account: accountId, receipt, note, yes } = options;
  requireYes(yes, `This would book ${formatCents(amountCents)} KES: ${description}.`);
  await onDatabase(async (database) => {
    await refuseUnlessMeant(new StoredAdministration(database, { now, fourEyes: new Set() }), options, DATABASE_ONLY);
    const { organization, cell } = await findOwner(database, org);
    const common = { ...byMachine(organization.id), amountCents, idempotencyKey, note };
    const command: CorrectBook = name === "allocate" ? { ...common, name, accountId } : { ...common, name, receipt };
    const outcome = await commitAsOperator(cell, command);
    if (outcome.kind === "refused") throw new OperatorError(messageOf(outcome.refusal));
    const { resource: head, proposal } = outcome.resource;
    if (head === undefined) {
      printLine(`Proposed as ${proposal.id}. Nothing moves until another person approves it.`);
      printLine(`That person runs, at a server: kesc proposal approve ${proposal.id}`);
      return;
    }
    const sums = Object.entries(head.sums).map(([account, cents]) => `${account} ${decimalOf(cents)}`);
    printLine(`${outcome.replayed ? "Done before" : "Done"}. The book: ${sums.join(", ")}.`);
  });
}
