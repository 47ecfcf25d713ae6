import type { Command } from "../../../../src/domain/commands.js";
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
      const { transactionId, description, newTransactionId } = command;
      const words = description === "" ? "" : `, ${description}`;
      return `reverse ${shortId(transactionId)}${words}, as ${shortId(newTransactionId)}${keyOf(command)}`;
    }
    case "cancelTransaction":
      return `cancel ${shortId(command.transactionId)}`;
    case "freezeAccount":
    case "unfreezeAccount":
    case "closeAccount":
    case "updateAccount":
    case "eraseAccount":
      return `${command.name} ${shortId(command.accountId)}`;
  }
}

function keyOf({ idempotencyKey }: { idempotencyKey: string | undefined }): string {
  return idempotencyKey === undefined ? "" : `, key ${idempotencyKey}`;
}

function shortId(id: string): string {
  return id.replace(/_0*/, "_");
}
