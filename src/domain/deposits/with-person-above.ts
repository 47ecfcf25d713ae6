import type { Acted, Authorized } from "../authority.js";
import { changes, inWords } from "../change.js";
import type { Book, Operation } from "../decision.js";
import { type Deposit, readDepositDetail } from "../deposit.js";
import type { DecidingRow } from "../journal.js";
import type { RailReceipt } from "../payment.js";
import { correctAloneMaxCents } from "../rail-account.js";
import { withSecondPerson } from "../second-person.js";
import { amountText } from "../values/cents.js";
import type { AccountId, DepositId } from "../values/ids.js";

/** A command of an operator about a deposit. */
interface ActOnDeposit extends Authorized {
  /** Undefined for a deposit that the command makes. */
  readonly depositId?: DepositId;
  readonly accountId?: AccountId | undefined;
  readonly receipt?: RailReceipt | undefined;
}

/** What people are shown of an act on a deposit. */
interface DepositWords<C> {
  /** The amount of the deposit that the command names, when omitted. */
  readonly amountOf?: (command: C, book: Book) => number;
  readonly statusAfter: (command: C) => string;
}

/**
 * Lets an act on a deposit need a second person: above the amount that the account at the rail lets
 * one person decide, and for any other deposit the lowest amount of all of them.
 */
export function withPersonAbove<C extends ActOnDeposit>(
  operation: Operation<C, Deposit>,
  { amountOf = amountOfDeposit, statusAfter }: DepositWords<C>,
): Operation<C, Acted<Deposit>> {
  return withSecondPerson(operation, {
    judged: (command, book) => {
      const accounts = book.railAccounts(command.organizationId);
      const ofRail = accounts.find(({ id }) => id === depositOf(command, book)?.railAccountId);
      const maxCents = ofRail?.resolveAloneMaxCents ?? correctAloneMaxCents(accounts);
      return { amountCents: amountOf(command, book), maxCents };
    },
    changesOf: (command, book) => {
      const deposit = depositOf(command, book);
      const amount = amountText(amountOf(command, book));
      const credits = deposit === undefined || deposit.credits === 0 ? undefined : String(deposit.credits);
      return changes(
        ["deposit", deposit && statusText(deposit), statusAfter(command)],
        ["amount", deposit && amount, amount],
        ["account", deposit?.accountId, command.accountId],
        ["receipt", undefined, command.receipt],
        ["credits so far", credits, credits],
      );
    },
    // Credits are counted, and other ends of a deposit are final.
    touchedBy: { "deposit.return_failed": isOfDeposit },
  });
}

function isOfDeposit({ detail = "" }: DecidingRow, { depositId }: ActOnDeposit): boolean {
  return readDepositDetail(detail).id === depositId;
}

function depositOf({ organizationId, depositId }: ActOnDeposit, book: Book): Deposit | undefined {
  return depositId && book.deposit(organizationId, depositId);
}

function statusText({ status, reason }: Deposit): string {
  return reason === undefined ? inWords(status) : `${inWords(status)}: ${inWords(reason)}`;
}

function amountOfDeposit(command: ActOnDeposit, book: Book): number {
  // The operation has refused a deposit that is not there.
  return (depositOf(command, book) as Deposit).amountCents;
}
