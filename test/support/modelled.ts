import type { JournalEntry } from "../../src/domain/journal.js";
import type { Command } from "../../src/domain/operations.js";
import { OPERATOR } from "../../src/domain/values/actor.js";

/**
 * The commands that the models of the property test and of the simulation know, and who may send
 * each for a suspended organization. What a rail tells is booked then, too, and only operators set
 * limits. Each command that moves money is here: `decide` of test/support/given.ts refuses others.
 */
const KNOWN = {
  createAccount: "nobody",
  updateAccount: "operators",
  freezeAccount: "operators",
  unfreezeAccount: "operators",
  closeAccount: "operators",
  eraseAccount: "everybody",
  setAccountTier: "everybody",
  setLimits: "everybody",
  mint: "nobody",
  redeem: "nobody",
  reverseTransaction: "operators",
  cancelTransaction: "operators",
  beginPayment: "nobody",
  acceptPayment: "everybody",
  postponePayment: "everybody",
  completePayment: "everybody",
  failPayment: "everybody",
  flagTransaction: "everybody",
  clearFlag: "operators",
  resolveTransaction: "operators",
  resolveTransactions: "operators",
  receiveDeposit: "everybody",
  recordDeposit: "everybody",
  recordDeposits: "everybody",
  assignDeposit: "everybody",
  unassignDeposit: "everybody",
  returnDeposit: "everybody",
  endReturn: "everybody",
  reverseDeposit: "everybody",
  coverShortfall: "everybody",
  recoverShortfall: "everybody",
  allocate: "everybody",
  returnUnallocated: "everybody",
  bookReceipt: "everybody",
  bookPayment: "everybody",
  adjustMovement: "everybody",
  explainTransfer: "everybody",
  fundCharges: "everybody",
  recordCharge: "everybody",
} as const satisfies { readonly [Name in Command["name"]]?: "nobody" | "operators" | "everybody" };

type Name = keyof typeof KNOWN;

/** The names of the commands that the models know. */
export const MODELLED = Object.keys(KNOWN) as readonly Name[];

export function isModelled(command: Command): command is Extract<Command, { readonly name: Name }> {
  return command.name in KNOWN;
}

/** Throws if the command moves money, and the models do not know it. */
export function mustBeModelled(command: Command, entries: readonly Pick<JournalEntry, "posting">[]): void {
  if (isModelled(command) || entries.every(({ posting }) => posting === undefined)) return;
  throw new Error(`${command.name} moves money, and test/support/modelled.ts does not name it`);
}

/** Whether the command holds while its organization is suspended. */
export function holdsInSuspension(command: Command): boolean {
  const senders = isModelled(command) ? KNOWN[command.name] : "nobody";
  return senders === "everybody" || (senders === "operators" && command.actor === OPERATOR);
}
