import { changes, inWords } from "../change.js";
import type { Book, Operation } from "../decision.js";
import type { Deposit } from "../deposit.js";
import { correctAloneMaxCents } from "../rail-account.js";
import { type Acted, IN_EVERY_POLICY, withSecondPerson } from "../second-person.js";
import { amountText } from "../values/cents.js";
import type { DepositCommand } from "./deposit-commands.js";

/**
 * Lets an act on a deposit need a second person: above the amount that the account at the rail lets
 * one person decide, and for any other deposit the lowest amount of all of them.
 */
export function withPersonAbove<C extends DepositCommand>(
  operation: Operation<C, Deposit>,
  amountOf: (command: C, book: Book) => number,
): Operation<C, Acted<Deposit>> {
  const locked: Operation<C, Deposit> = {
    ...operation,
    lookup: (command, rows) => {
      operation.lookup(command, rows);
      rows.need("railAccounts", command.organizationId);
      rows.need("waitingProposals", command.organizationId);
    },
  };
  return withSecondPerson(locked, {
    groupOf: (_head, command, book) => {
      const accounts = book.railAccounts(command.organizationId);
      const ofRail = accounts.find(({ id }) => id === depositOf(command, book)?.railAccountId);
      const aloneMaxCents = ofRail?.resolveAloneMaxCents ?? correctAloneMaxCents(accounts);
      return amountOf(command, book) > aloneMaxCents ? IN_EVERY_POLICY : undefined;
    },
    changesOf: (command, book) => {
      const deposit = depositOf(command, book);
      const amount = amountText(amountOf(command, book));
      const accountId = "accountId" in command ? command.accountId : undefined;
      const credits = deposit === undefined || deposit.credits === 0 ? undefined : String(deposit.credits);
      return changes(
        ["deposit", deposit && statusText(deposit), statusAfter(command)],
        ["amount", deposit && amount, amount],
        ["account", deposit?.accountId, accountId],
        ["receipt", undefined, "receipt" in command ? command.receipt : undefined],
        ["credits so far", credits, credits],
      );
    },
  });
}

function depositOf(command: DepositCommand, book: Book): Deposit | undefined {
  return "depositId" in command ? book.deposit(command.organizationId, command.depositId) : undefined;
}

function statusText({ status, reason }: Deposit): string {
  return reason === undefined ? inWords(status) : `${inWords(status)}: ${inWords(reason)}`;
}

function statusAfter(command: DepositCommand): string {
  switch (command.name) {
    case "recordDeposit":
      return command.accountId === undefined ? "unallocated" : "credited";
    case "assignDeposit":
      return "credited";
    case "unassignDeposit":
      return "unallocated";
    case "returnDeposit":
      return command.receipt === undefined ? "returning: the rail is asked" : "returned to the payer";
    case "reverseDeposit":
      return "reversed: the rail took it back";
  }
}

/** The amount of the deposit that a command names. */
export function amountOfDeposit(command: Exclude<DepositCommand, { name: "recordDeposit" }>, book: Book): number {
  // The operation has refused a deposit that is not there.
  return (book.deposit(command.organizationId, command.depositId) as Deposit).amountCents;
}
