import type { Command, PaymentCommand } from "../../../../src/domain/operations.js";
import { formatCents } from "../../../../src/domain/values/cents.js";

/** The steps of a run. A run that no reader will see keeps none. */
export class Trace {
  readonly #lines: string[] = [];
  readonly #kept: boolean;

  constructor({ kept }: { kept: boolean }) {
    this.#kept = kept;
  }

  note(millis: number, who: string, what: () => string): void {
    if (this.#kept) this.#lines.push(`${String(millis).padStart(6)} ms  ${who.padEnd(9)}  ${what()}`);
  }

  get lines(): readonly string[] {
    return this.#lines;
  }
}

export function describeCommand(command: Command): string {
  switch (command.name) {
    case "createAccount":
      return `create ${command.userId}, ${command.phoneNumber} as ${shortId(command.newAccountId)}${keyOf(command)}`;
    case "mint":
    case "redeem": {
      const { name, amountCents, accountId, reference, rail, newTransactionId } = command;
      const amount = Number.isInteger(amountCents) ? formatCents(amountCents) : String(amountCents);
      const what = `${name} ${amount}, ${shortId(accountId)}, ${rail}, reference ${reference}`;
      return `${what}, as ${shortId(newTransactionId)}${keyOf(command)}`;
    }
    case "reverseTransaction": {
      if ("authority" in command) return `reverse ${shortId(command.transactionId)} by ${command.authority.person}`;
      const { transactionId, description, newTransactionId } = command;
      const words = description === "" ? "" : `, ${description}`;
      return `reverse ${shortId(transactionId)}${words}, as ${shortId(newTransactionId)}${keyOf(command)}`;
    }
    case "cancelTransaction":
      return `cancel ${shortId(command.transactionId)}`;
    case "freezeAccount":
      return `freeze ${shortId(command.accountId)} as ${shortId(command.newFreezeId)}${keyOf(command)}`;
    case "unfreezeAccount":
      return `lift ${shortId(command.freezeId)} of ${shortId(command.accountId)}`;
    case "createDestination":
      return `add ${command.kind} as ${shortId(command.newDestinationId)} to ${shortId(command.accountId)}${keyOf(command)}`;
    case "removeDestination":
      return `remove ${shortId(command.destinationId)} of ${shortId(command.accountId)}`;
    case "closeAccount":
    case "updateAccount":
    case "eraseAccount":
    case "revealAccount":
      return `${command.name} ${shortId(command.accountId)}`;
    case "setAccountTier":
      return `set the tier of ${shortId(command.accountId)} to ${command.tier}`;
    case "suspendOrganization":
    case "requireReceipts":
    case "resumeOrganization":
    case "createApiKey":
    case "revokeApiKey":
    case "rejectProposal":
    case "setRailAccount":
    case "setDefaultRail":
    case "setPayouts":
    case "recordReserve":
    case "setReserveRules":
    case "watchRailAccount":
      return command.name;
    case "clearFlag":
      return `${command.name} ${shortId(command.transactionId)}, ${command.flag}`;
    case "receiveDeposit": {
      const { receipt, amountCents, typedReference, orderId, newDepositId } = command;
      const what = `receive ${formatCents(amountCents)}, receipt ${receipt}, typed "${typedReference}"`;
      return `${what}${orderId === undefined ? "" : `, order ${shortId(orderId)}`}, as ${shortId(newDepositId)}`;
    }
    case "recordCharge":
      return `charge ${formatCents(command.amountCents)} (${command.direction}) for ${command.movement}`;
    case "numberAccount":
      return `number ${shortId(command.accountId)}`;
    case "recordDeposit":
      return `record ${formatCents(command.amountCents)}, receipt ${command.receipt}`;
    case "assignDeposit":
      return `assign ${shortId(command.depositId)} to ${shortId(command.accountId)}`;
    case "unassignDeposit":
    case "returnDeposit":
    case "endReturn":
    case "reverseDeposit":
      return `${command.name} ${shortId(command.depositId)}`;
    case "setLimits":
      return `set the limits of ${command.tier ?? "the organization"}: ${JSON.stringify(command.changes)}`;
    case "coverShortfall":
    case "recoverShortfall":
    case "allocate":
    case "returnUnallocated":
    case "bookReceipt":
    case "bookPayment":
    case "adjustMovement":
    case "explainTransfer":
    case "fundCharges":
      return `${command.name} ${formatCents(command.amountCents)} by ${command.authority.person}${keyOf(command)}`;
    case "beginPayment":
    case "acceptPayment":
    case "postponePayment":
    case "completePayment":
    case "failPayment":
    case "flagTransaction":
    case "resolveTransaction":
      return describePaymentCommand(command);
  }
}

function describePaymentCommand(command: PaymentCommand): string {
  const what = `${command.name} ${shortId(command.transactionId)}`;
  switch (command.name) {
    case "completePayment": {
      const { movement = "none", receipt = "none", amountCents } = command;
      const amount = amountCents === undefined ? "any amount" : formatCents(amountCents);
      return `${what}, ${amount}, movement ${movement}, receipt ${receipt}, as ${shortId(command.newTransactionId)}`;
    }
    case "failPayment":
      return `${what}, ${command.failure}`;
    case "flagTransaction":
      return `${what}, ${command.flag}`;
    case "resolveTransaction":
      return `${what}, ${JSON.stringify(command.resolution)} by ${command.authority.person}`;
    case "beginPayment":
    case "acceptPayment":
    case "postponePayment":
      return what;
  }
}

function keyOf({ idempotencyKey }: { idempotencyKey: string | undefined }): string {
  return idempotencyKey === undefined ? "" : `, key ${idempotencyKey}`;
}

function shortId(id: string): string {
  return id.replace(/_0*/, "_");
}
