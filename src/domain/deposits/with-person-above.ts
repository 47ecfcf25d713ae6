import type { Book, Operation } from "../decision.js";
import type { Deposit } from "../deposit.js";
import { correctAloneMaxCents } from "../rail-account.js";
import { type Acted, IN_EVERY_POLICY, withSecondPerson } from "../second-person.js";
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
  return withSecondPerson(locked, (_head, command, book) => {
    const accounts = book.railAccounts(command.organizationId);
    const deposit = "depositId" in command ? book.deposit(command.organizationId, command.depositId) : undefined;
    const ofRail = accounts.find(({ id }) => id === deposit?.railAccountId);
    const aloneMaxCents = ofRail?.resolveAloneMaxCents ?? correctAloneMaxCents(accounts);
    return amountOf(command, book) > aloneMaxCents ? IN_EVERY_POLICY : undefined;
  });
}

/** The amount of the deposit that a command names. */
export function amountOfDeposit(command: Exclude<DepositCommand, { name: "recordDeposit" }>, book: Book): number {
  // The operation has refused a deposit that is not there.
  return (book.deposit(command.organizationId, command.depositId) as Deposit).amountCents;
}
