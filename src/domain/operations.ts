import { closeAccount } from "./accounts/close-account.js";
import { createAccount } from "./accounts/create-account.js";
import { createDestination } from "./accounts/create-destination.js";
import { eraseAccount } from "./accounts/erase-account.js";
import { freezeAccount } from "./accounts/freeze-account.js";
import { removeDestination } from "./accounts/remove-destination.js";
import { revealAccount } from "./accounts/reveal-account.js";
import { setAccountTier } from "./accounts/set-account-tier.js";
import { unfreezeAccount } from "./accounts/unfreeze-account.js";
import { updateAccount } from "./accounts/update-account.js";
import type { Acted, Authorized } from "./authority.js";
import { collectBankFile } from "./bank-files/collect-bank-file.js";
import { downloadBankFile } from "./bank-files/download-bank-file.js";
import { reportBankFileLost } from "./bank-files/report-bank-file-lost.js";
import { closeMonth } from "./book/close-month.js";
import { correctBook } from "./book/correct-book.js";
import { createApiKey } from "./book/create-api-key.js";
import { recordReserve } from "./book/record-reserve.js";
import { rejectProposal } from "./book/reject-proposal.js";
import { requireReceipts } from "./book/require-receipts.js";
import { revokeApiKey } from "./book/revoke-api-key.js";
import { setLimits } from "./book/set-limits.js";
import { setReservePlace } from "./book/set-reserve-place.js";
import { setReserveRules } from "./book/set-reserve-rules.js";
import { resumeOrganization, suspendOrganization } from "./book/suspend-organization.js";
import type { Book, Decision, Lookup, Operation } from "./decision.js";
import { type AssignDeposit, assignDeposit } from "./deposits/assign-deposit.js";
import { type EndReturn, endReturn } from "./deposits/end-return.js";
import { type ReceiveDeposit, receiveDeposit } from "./deposits/receive-deposit.js";
import { type RecordDeposit, recordDeposit } from "./deposits/record-deposit.js";
import { recordDeposits } from "./deposits/record-deposits.js";
import { type ReturnDeposit, returnDeposit } from "./deposits/return-deposit.js";
import { type ReverseDeposit, reverseDeposit } from "./deposits/reverse-deposit.js";
import { type UnassignDeposit, unassignDeposit } from "./deposits/unassign-deposit.js";
import { moveMoney } from "./money/move-money.js";
import { type ReverseByOperator, type ReverseTransaction, reverseTransaction } from "./money/reverse-transaction.js";
import { type AdvancePayment, advancePayment } from "./orders/advance-payment.js";
import { type BeginPayment, beginPayment } from "./orders/begin-payment.js";
import { cancelTransaction } from "./orders/cancel-transaction.js";
import { clearFlag } from "./orders/clear-flag.js";
import { type CompletePayment, completePayment } from "./orders/complete-payment.js";
import { decideCheck } from "./orders/decide-check.js";
import { type FailPayment, failPayment } from "./orders/fail-payment.js";
import { type FlagTransaction, flagTransaction } from "./orders/flag-transaction.js";
import { refuseTransaction, releaseTransaction } from "./orders/release-transaction.js";
import { resolveTransaction } from "./orders/resolve-transaction.js";
import { resolveTransactions } from "./orders/resolve-transactions.js";
import { payFile } from "./payouts/pay-file.js";
import { clearPayoutCheck, setPayoutCheck } from "./payouts/set-payout-check.js";
import { setPayoutList } from "./payouts/set-payout-list.js";
import { stopFile } from "./payouts/stop-file.js";
import {
  setDefaultRail,
  setPayouts,
  setRailAccount,
  type WatchRailAccount,
  watchRailAccount,
} from "./rails/change-rail-accounts.js";
import { type RecordCharge, recordCharge } from "./rails/record-charge.js";
import type { Transaction } from "./transaction.js";
import type { UnixMillis } from "./values/time.js";
import { createWebhookEndpoint } from "./webhooks/create-webhook-endpoint.js";
import { deleteWebhookEndpoint } from "./webhooks/delete-webhook-endpoint.js";
import { disableWebhookEndpoint } from "./webhooks/disable-webhook-endpoint.js";
import { replayWebhookEvents } from "./webhooks/replay-webhook-events.js";
import { resendWebhookDelivery } from "./webhooks/resend-webhook-delivery.js";
import { rotateWebhookSecret } from "./webhooks/rotate-webhook-secret.js";
import { updateWebhookEndpoint } from "./webhooks/update-webhook-endpoint.js";

/** All operations, by the name of their command. */
const OPERATIONS = {
  createAccount,
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
  resolveTransactions,
  releaseTransaction,
  refuseTransaction,
  decideCheck,
  receiveDeposit,
  recordDeposit,
  recordDeposits,
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
  setReservePlace,
  setReserveRules,
  closeMonth,
  suspendOrganization,
  resumeOrganization,
  requireReceipts,
  createApiKey,
  revokeApiKey,
  rejectProposal,
  createDestination,
  removeDestination,
  createWebhookEndpoint,
  updateWebhookEndpoint,
  rotateWebhookSecret,
  resendWebhookDelivery,
  replayWebhookEvents,
  disableWebhookEndpoint,
  deleteWebhookEndpoint,
  payFile,
  setPayoutList,
  collectBankFile,
  downloadBankFile,
  reportBankFileLost,
  stopFile,
  setPayoutCheck,
  clearPayoutCheck,
} as const;

type Operations = typeof OPERATIONS;

/**
 * A request to change state. Every change is one of these commands. The caller generates the new
 * ids, so a decision stays a pure function.
 */
export type Command = Parameters<Operations[keyof Operations]["lookup"]>[0];
/** A command of an operator that can wait for a second person. */
export type OperatorCommand = Extract<Command, Authorized>;
/** A command of an operator about a deposit. */
export type DepositCommand = RecordDeposit | AssignDeposit | UnassignDeposit | ReturnDeposit | ReverseDeposit;
/** A command of the settlement. */
export type RailCommand = PaymentCommand | ReceiveDeposit | EndReturn | RecordCharge | WatchRailAccount;
export type PaymentCommand = BeginPayment | AdvancePayment | CompletePayment | FailPayment | FlagTransaction;

/** What a command returns. */
export type Resource = ResourceOf<Command>;

/** What an operator's command creates or changes, once it is done. */
export type ActedOf<C extends OperatorCommand> =
  ResourceOf<C> extends { readonly resource?: infer R } ? NonNullable<R> : never;

/**
 * The type of resource that a command creates or changes. One operation has two commands, that of
 * an organization and that of an operator.
 */
export type ResourceOf<C extends Command> = C extends ReverseTransaction
  ? Transaction
  : C extends ReverseByOperator
    ? Acted<Transaction>
    : Extract<ReturnType<Operations[C["name"]]["decide"]>, { readonly kind: "effect" }>["resource"];

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
export function decide(book: Book, command: Command, now: UnixMillis, clock = now): Decision<Resource> {
  return operationOf(command.name).decide(book, command, now, clock);
}
