import type { Command, Resource, ResourceOf } from "../commands.js";
import type { Book, Decision, Lookup, Operation } from "../decision.js";
import type { UnixMillis } from "../values/time.js";
import { advancePayment } from "./advance-payment.js";
import { assignDeposit } from "./assign-deposit.js";
import { beginPayment } from "./begin-payment.js";
import { cancelTransaction } from "./cancel-transaction.js";
import { setDefaultRail, setPayouts, setRailAccount, watchRailAccount } from "./change-rail-accounts.js";
import { clearFlag } from "./clear-flag.js";
import { closeAccount } from "./close-account.js";
import { completePayment } from "./complete-payment.js";
import { correctBook } from "./correct-book.js";
import { createAccount } from "./create-account.js";
import { createApiKey } from "./create-api-key.js";
import { createDestination } from "./create-destination.js";
import { endReturn } from "./end-return.js";
import { eraseAccount } from "./erase-account.js";
import { failPayment } from "./fail-payment.js";
import { flagTransaction } from "./flag-transaction.js";
import { freezeAccount } from "./freeze-account.js";
import { moveMoney } from "./move-money.js";
import { numberAccount } from "./number-account.js";
import { receiveDeposit } from "./receive-deposit.js";
import { recordCharge } from "./record-charge.js";
import { recordDeposit } from "./record-deposit.js";
import { recordReserve } from "./record-reserve.js";
import { rejectProposal } from "./reject-proposal.js";
import { removeDestination } from "./remove-destination.js";
import { requireReceipts } from "./require-receipts.js";
import { resolveTransaction } from "./resolve-transaction.js";
import { returnDeposit } from "./return-deposit.js";
import { revealAccount } from "./reveal-account.js";
import { reverseDeposit } from "./reverse-deposit.js";
import { reverseTransaction } from "./reverse-transaction.js";
import { revokeApiKey } from "./revoke-api-key.js";
import { setAccountTier } from "./set-account-tier.js";
import { setLimits } from "./set-limits.js";
import { setReserveRules } from "./set-reserve-rules.js";
import { resumeOrganization, suspendOrganization } from "./suspend-organization.js";
import { unassignDeposit } from "./unassign-deposit.js";
import { unfreezeAccount } from "./unfreeze-account.js";
import { updateAccount } from "./update-account.js";

type CommandNamed<Name, C extends Command = Command> = C extends unknown ? (Name extends C["name"] ? C : never) : never;

/**
 * All operations, by the name of their command. The table does not compile without an entry for
 * each command.
 */
const OPERATIONS = {
  createAccount,
  numberAccount,
  updateAccount,
  freezeAccount,
  unfreezeAccount,
  closeAccount,
  eraseAccount,
  revealAccount,
  setAccountTier,
  mint: moveMoney,
  redeem: moveMoney,
  reverseTransaction,
  cancelTransaction,
  beginPayment,
  acceptPayment: advancePayment,
  postponePayment: advancePayment,
  completePayment,
  failPayment,
  flagTransaction,
  clearFlag,
  resolveTransaction,
  receiveDeposit,
  recordDeposit,
  assignDeposit,
  unassignDeposit,
  returnDeposit,
  endReturn,
  reverseDeposit,
  coverShortfall: correctBook,
  recoverShortfall: correctBook,
  allocate: correctBook,
  returnUnallocated: correctBook,
  bookReceipt: correctBook,
  bookPayment: correctBook,
  adjustMovement: correctBook,
  explainTransfer: correctBook,
  fundCharges: correctBook,
  recordCharge,
  setLimits,
  setRailAccount,
  setDefaultRail,
  setPayouts,
  watchRailAccount,
  recordReserve,
  setReserveRules,
  suspendOrganization,
  resumeOrganization,
  requireReceipts,
  createApiKey,
  revokeApiKey,
  rejectProposal,
  createDestination,
  removeDestination,
} satisfies { [Name in Command["name"]]: Operation<CommandNamed<Name>, ResourceOf<CommandNamed<Name>>> };

export const COMMAND_NAMES = Object.keys(OPERATIONS) as readonly Command["name"][];

/** The operation that decides the commands of this name. */
export function operationOf(name: Command["name"]): Operation<Command, Resource> {
  return OPERATIONS[name] as Operation<Command, Resource>;
}

/** Names the rows that the decision on this command may read. */
export function lookUp(command: Command, rows: Lookup): void {
  operationOf(command.name).lookup(command, rows);
}

/**
 * Decides a command against the state before it. The function is pure: only the store writes the
 * effect.
 */
export function decide(book: Book, command: Command, now: UnixMillis): Decision<Resource> {
  return operationOf(command.name).decide(book, command, now);
}
