import { status as Status } from "@grpc/grpc-js";

import { remainingCents } from "../../domain/limits/usage.js";
import type { Refusal } from "../../domain/refusal.js";
import { formatCents } from "../../domain/values/cents.js";
import { type Answers, listOf, orNoCents, orNoTime, SOON_MILLIS } from "./refusal.js";

type RefusalFor<Reason> = Extract<Refusal, { readonly reason: Reason }>;

/** The answers for the rules of accounts and money. */
export const BOOK_REFUSALS: Answers<Refusal> = {
  ACCOUNT_NOT_FOUND: {
    status: Status.NOT_FOUND,
    message: ({ accountId }) => `Account ${accountId} was not found.`,
    facts: ({ accountId }) => ({ account_id: accountId }),
  },
  TRANSACTION_NOT_FOUND: {
    status: Status.NOT_FOUND,
    message: ({ transactionId }) => `Transaction ${transactionId} was not found.`,
    facts: ({ transactionId }) => ({ transaction_id: transactionId }),
  },
  PAYMENT_NOT_FOUND: {
    status: Status.NOT_FOUND,
    message: ({ transactionId }) => `Transaction ${transactionId} has no payment: it was not given to a rail.`,
    facts: ({ transactionId }) => ({ transaction_id: transactionId }),
  },
  DEPOSIT_NOT_FOUND: {
    status: Status.NOT_FOUND,
    message: ({ depositId }) => `Deposit ${depositId} was not found.`,
    facts: ({ depositId }) => ({ deposit_id: depositId }),
  },
  FREEZE_NOT_FOUND: {
    status: Status.NOT_FOUND,
    message: ({ freezeId }) => `Freeze ${freezeId} was not found on the account.`,
    facts: ({ freezeId }) => ({ freeze_id: freezeId }),
  },
  ACCOUNT_ALREADY_EXISTS: {
    status: Status.ALREADY_EXISTS,
    message: ({ accountId, differingFields }) =>
      `The user_id already has the account ${accountId}, with another ${listOf(differingFields)}.`,
    facts: ({ accountId, differingFields }) => ({
      account_id: accountId,
      differing_fields: differingFields.join(","),
    }),
  },
  REFERENCE_ALREADY_USED: {
    status: Status.ALREADY_EXISTS,
    message: ({ transactionId, differingFields }) =>
      `The reference already belongs to ${transactionId}, with another ${listOf(differingFields)}. Look at that transaction before you try again.`,
    facts: ({ transactionId, differingFields }) => ({
      transaction_id: transactionId,
      differing_fields: differingFields.join(","),
    }),
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: Status.FAILED_PRECONDITION,
    message: () => "The idempotency key belongs to a request with other content. Use a new key.",
  },
  TRANSACTION_STILL_OPEN: {
    status: Status.FAILED_PRECONDITION,
    message: ({ transactionId }) =>
      `Transaction ${transactionId} is processing. Resolve it first. Then clear its flags.`,
    facts: ({ transactionId }) => ({ transaction_id: transactionId }),
  },
  TRANSACTION_ALREADY_ENDED: {
    status: Status.FAILED_PRECONDITION,
    message: ({ transactionId, status }) =>
      `Transaction ${transactionId} is already ${status.toLowerCase()}, in another way.`,
    facts: ({ transactionId, status }) => ({
      transaction_id: transactionId,
      transaction_status: status.toLowerCase(),
    }),
  },
  TRANSACTION_ALREADY_REVERSED: {
    status: Status.ALREADY_EXISTS,
    message: ({ transactionId, reversedById, differingFields }) =>
      `Transaction ${transactionId} was already reversed by ${reversedById}, with another ${listOf(differingFields)}. Look at that reversal before you try again.`,
    facts: ({ transactionId, reversedById, differingFields }) => ({
      transaction_id: transactionId,
      reversed_by_transaction_id: reversedById,
      differing_fields: differingFields.join(","),
    }),
  },
  TRANSACTION_NOT_REVERSIBLE: {
    status: Status.FAILED_PRECONDITION,
    message: ({ transactionId, cause }) => {
      const { why, instead } = OBSTACLES[cause];
      return `Transaction ${transactionId} cannot be reversed: ${why} (${cause.toLowerCase()}). ${instead}`;
    },
    facts: ({ transactionId, cause }) => ({ transaction_id: transactionId, cause: cause.toLowerCase() }),
  },
  INSUFFICIENT_FUNDS: {
    status: Status.FAILED_PRECONDITION,
    message: ({ availableCents, requestedCents }) =>
      `Insufficient available balance: ${formatCents(availableCents)} available, ${formatCents(requestedCents)} requested.`,
    facts: ({ availableCents, requestedCents }) => ({
      available: formatCents(availableCents),
      requested: formatCents(requestedCents),
    }),
  },
  ACCOUNT_FROZEN: {
    status: Status.FAILED_PRECONDITION,
    message: ({ accountId }) => `Account ${accountId} is frozen. Lift its freezes first.`,
    facts: ({ accountId }) => ({ account_id: accountId }),
  },
  TOO_MANY_FREEZES: {
    status: Status.FAILED_PRECONDITION,
    message: ({ accountId, limit }) =>
      `Account ${accountId} already has ${String(limit)} freezes, the most that can stand. It stays frozen.`,
    facts: ({ accountId, limit }) => ({ account_id: accountId, limit: String(limit) }),
  },
  ACCOUNT_CLOSED: {
    status: Status.FAILED_PRECONDITION,
    message: ({ accountId }) => `Account ${accountId} is closed. A closed account stays closed.`,
    facts: ({ accountId }) => ({ account_id: accountId }),
  },
  ETAG_MISMATCH: {
    status: Status.ABORTED,
    message: ({ etag }) =>
      `The resource has changed: its etag is now ${etag}. Nothing was done. Read the resource again.`,
    facts: ({ etag }) => ({ etag }),
  },
  ACCOUNT_ERASED: {
    status: Status.FAILED_PRECONDITION,
    message: ({ accountId }) => `The personal data of account ${accountId} was erased.`,
    facts: ({ accountId }) => ({ account_id: accountId }),
  },
  ACCOUNT_NOT_EMPTY: {
    status: Status.FAILED_PRECONDITION,
    message: ({ accountId, availableCents, heldCents }) => {
      const balances = `${formatCents(availableCents)} available, ${formatCents(heldCents)} held`;
      return `Account ${accountId} is not empty: ${balances}. Redeem the balance first.`;
    },
    facts: ({ accountId, availableCents, heldCents }) => ({
      account_id: accountId,
      available: formatCents(availableCents),
      held: formatCents(heldCents),
    }),
  },
  INVALID_TRANSITION: {
    status: Status.FAILED_PRECONDITION,
    message: invalidTransition,
    facts: ({ from, to }) => ({ from: from.toLowerCase(), to: to.toLowerCase() }),
  },
  LIMIT_EXCEEDED: {
    status: Status.FAILED_PRECONDITION,
    message: limitExceeded,
    facts: ({ accountId, limitCents, reached }) => ({
      account_id: accountId,
      max_amount: formatCents(limitCents),
      period: reached?.period.toLowerCase(),
      used: orNoCents(reached?.usedCents),
      remaining: reached === undefined ? undefined : formatCents(remainingCents(limitCents, reached.usedCents)),
      resets_at: orNoTime(reached?.resetsAt),
    }),
  },
  TOO_MANY_TIERS: {
    status: Status.FAILED_PRECONDITION,
    message: ({ limit }) =>
      `The organization has limits for ${String(limit)} tiers, the most that it can have. Remove one first.`,
    facts: ({ limit }) => ({ limit: String(limit) }),
  },
  API_KEY_NOT_FOUND: {
    status: Status.NOT_FOUND,
    message: ({ keyId }) => `There is no key ${keyId}.`,
    facts: ({ keyId }) => ({ api_key_id: keyId }),
  },
  PROPOSAL_NOT_FOUND: {
    status: Status.NOT_FOUND,
    message: ({ proposalId }) => `There is no proposal ${proposalId}.`,
    facts: ({ proposalId }) => ({ proposal_id: proposalId }),
  },
  PROPOSAL_CLOSED: {
    status: Status.FAILED_PRECONDITION,
    message: ({ proposalId, state }) =>
      `The proposal ${proposalId} is ${state.toLowerCase()}. It can no longer be decided.`,
    facts: ({ proposalId, state }) => ({ proposal_id: proposalId, state: state.toLowerCase() }),
  },
  OWN_PROPOSAL: {
    status: Status.PERMISSION_DENIED,
    message: ({ proposalId }) => `The proposal ${proposalId} is your own. Another person must approve it.`,
    facts: ({ proposalId }) => ({ proposal_id: proposalId }),
  },
  TOO_MANY_PROPOSALS: {
    status: Status.FAILED_PRECONDITION,
    message: ({ limit }) =>
      `You have ${String(limit)} proposals that wait, and more are not allowed. Reject those that you do not need.`,
    facts: ({ limit }) => ({ limit: String(limit) }),
  },
  ACCOUNT_HAS_OPEN_TRANSACTIONS: {
    status: Status.FAILED_PRECONDITION,
    message: ({ accountId, openPayments }) =>
      `Account ${accountId} has ${String(openPayments)} open transactions. Wait until they have ended, or cancel them.`,
    facts: ({ accountId, openPayments }) => ({ account_id: accountId, open_transactions: String(openPayments) }),
  },
  AMOUNT_NOT_PAYABLE: {
    status: Status.FAILED_PRECONDITION,
    message: ({ payable: { minCents, maxCents, stepCents }, nearest: { belowCents, aboveCents } }) => {
      const range = `from ${formatCents(minCents)} to ${formatCents(maxCents)} in steps of ${formatCents(stepCents)}`;
      const nearest = [belowCents, aboveCents].flatMap((cents) => (cents === undefined ? [] : [formatCents(cents)]));
      return `The rail pays amounts ${range}. The nearest: ${listOf(nearest)}.`;
    },
    facts: ({ payable, nearest }) => ({
      min: formatCents(payable.minCents),
      max: formatCents(payable.maxCents),
      step: formatCents(payable.stepCents),
      nearest_below: orNoCents(nearest.belowCents),
      nearest_above: orNoCents(nearest.aboveCents),
    }),
  },
  RAIL_NOT_CONFIGURED: {
    status: Status.FAILED_PRECONDITION,
    message: ({ rail }) => `The organization cannot use the rail ${rail}. Name another one, or ask the operator.`,
    facts: ({ rail }) => ({ rail }),
  },
  PHONE_NUMBER_NOT_PAYABLE: {
    status: Status.FAILED_PRECONDITION,
    message: ({ rail }) => `The rail ${rail} cannot reach the phone number.`,
    facts: ({ rail }) => ({ rail }),
  },
  PHONE_NUMBER_COOLING: {
    status: Status.FAILED_PRECONDITION,
    message: ({ accountId, until }) =>
      `The phone number of account ${accountId} was changed a short time ago. Nothing is paid out to it before ${new Date(until).toISOString()}.`,
    facts: ({ accountId, until }) => ({ account_id: accountId, until: new Date(until).toISOString() }),
  },
  PHONE_NUMBER_MISSING: {
    status: Status.FAILED_PRECONDITION,
    message: ({ accountId }) => `Account ${accountId} has no phone number, because its personal data was erased.`,
    facts: ({ accountId }) => ({ account_id: accountId }),
  },
  RECEIPT_REQUIRED: {
    status: Status.FAILED_PRECONDITION,
    message: () =>
      "The organization takes deposits, so a mint on the direct rail needs a receipt. Without it, the same shillings could be credited twice.",
  },
  RECEIPT_ALREADY_USED: {
    status: Status.ALREADY_EXISTS,
    message: ({ receipt, transactionId, depositId }) =>
      `The receipt ${receipt} already belongs to ${ownersIn([transactionId, depositId])}.`,
    facts: ({ receipt, transactionId, depositId }) => ({
      rail_receipt: receipt,
      transaction_id: transactionId,
      deposit_id: depositId,
    }),
  },
  RECEIPT_OF_OTHER_RAIL: {
    status: Status.FAILED_PRECONDITION,
    message: ({ rail }) => `The receipt is none of the rail ${rail}, which has the order. Give that of this rail.`,
    facts: ({ rail }) => ({ rail }),
  },
  BOOK_ACCOUNT_TOO_LOW: {
    status: Status.FAILED_PRECONDITION,
    message: ({ bookAccount, balanceCents, requestedCents }) =>
      `The book account ${bookAccount} has ${formatCents(balanceCents)}, but ${formatCents(requestedCents)} was requested.`,
    facts: ({ bookAccount, balanceCents, requestedCents }) => ({
      book_account: bookAccount,
      balance: formatCents(balanceCents),
      requested: formatCents(requestedCents),
    }),
  },
  BOOK_RESTORED: {
    status: Status.FAILED_PRECONDITION,
    message: () => "The book comes from a backup. No payment begins until an operator has activated it.",
  },
  RAIL_ACCOUNT_CHANGED: {
    status: Status.FAILED_PRECONDITION,
    message: () => "The account at the rail has changed meanwhile. Try again.",
  },
  RAIL_ACCOUNT_NOT_FOUND: {
    status: Status.NOT_FOUND,
    message: ({ rail }) => `The organization has no account at the rail ${rail}.`,
    facts: ({ rail }) => ({ rail }),
  },
  RAIL_PAYMENTS_UNDER_WAY: {
    status: Status.FAILED_PRECONDITION,
    message: ({ rail, payments }) =>
      `Payments over ${rail} are under way: ${String(payments)}. Another place would not know them. Wait until they have ended.`,
    facts: ({ rail, payments }) => ({ rail, payments: String(payments) }),
  },
  TOO_MANY_RESERVE_PLACES: {
    status: Status.FAILED_PRECONDITION,
    message: ({ limit }) =>
      `The organization has figures of ${String(limit)} places, and more are not allowed. Record the figure for one of them.`,
    facts: ({ limit }) => ({ limit: String(limit) }),
  },
  TOO_MANY_REVEALS: {
    status: Status.RESOURCE_EXHAUSTED,
    message: ({ limit, retryMillis }) =>
      `You looked at ${String(limit)} accounts in an hour, and more are not allowed. Nothing was shown. Try again in ${seconds(retryMillis)} seconds.`,
    facts: ({ limit }) => ({ limit: String(limit) }),
    retryMillis: ({ retryMillis }) => retryMillis,
  },
  ORGANIZATION_SUSPENDED: {
    status: Status.PERMISSION_DENIED,
    message: () => "The operator has suspended the organization. Calls that read still work. Ask the operator.",
  },
  WEBHOOK_ENDPOINT_NOT_FOUND: {
    status: Status.NOT_FOUND,
    message: ({ endpointId }) => `Webhook endpoint ${endpointId} was not found.`,
    facts: ({ endpointId }) => ({ webhook_endpoint_id: endpointId }),
  },
  WEBHOOK_ENDPOINT_ALREADY_EXISTS: {
    status: Status.ALREADY_EXISTS,
    message: ({ endpointId, differingFields }) => {
      const values = differingFields.length === 0 ? "" : `, with other values of ${listOf(differingFields)}`;
      return `The url already has the webhook endpoint ${endpointId}${values}.`;
    },
    facts: ({ endpointId, differingFields }) => ({
      webhook_endpoint_id: endpointId,
      differing_fields: differingFields.join(","),
    }),
  },
  TOO_MANY_WEBHOOK_ENDPOINTS: {
    status: Status.FAILED_PRECONDITION,
    message: ({ limit }) =>
      `The organization already has ${String(limit)} webhook endpoints, the most that it can have.`,
    facts: ({ limit }) => ({ limit: String(limit) }),
  },
  WEBHOOK_ENDPOINT_BUSY: {
    status: Status.FAILED_PRECONDITION,
    message: ({ endpointId }) =>
      `Webhook endpoint ${endpointId} already replays another range, or too many of its events are undelivered.`,
    facts: ({ endpointId }) => ({ webhook_endpoint_id: endpointId }),
    retryMillis: SOON_MILLIS,
  },
  EVENT_NOT_FOUND: {
    status: Status.NOT_FOUND,
    message: ({ sequence }) => `The book has no event with the sequence ${String(sequence)}.`,
    facts: ({ sequence }) => ({ sequence: String(sequence) }),
  },
  TOO_MANY_WEBHOOK_TESTS: {
    status: Status.RESOURCE_EXHAUSTED,
    message: ({ limit }) =>
      `The organization already sends ${String(limit)} test events. Nothing was done. Send the request again later.`,
    facts: ({ limit }) => ({ limit: String(limit) }),
    retryMillis: SOON_MILLIS,
  },
  BOOK_MOVING: {
    status: Status.UNAVAILABLE,
    message: () => "The accounts of the organization are being moved. Nothing was done. Send the request again.",
    retryMillis: SOON_MILLIS,
  },
  CLOCK_BEHIND: {
    status: Status.UNAVAILABLE,
    message: ({ behindMillis }) =>
      `The clock of the server is ${seconds(behindMillis)} seconds slow. Nothing was done. Send the request again.`,
    facts: ({ behindMillis }) => ({ behind_seconds: seconds(behindMillis) }),
    retryMillis: SOON_MILLIS,
  },
  DESTINATION_NOT_FOUND: {
    status: Status.NOT_FOUND,
    message: ({ destinationId }) => `Destination ${destinationId} was not found on the account, or was removed.`,
    facts: ({ destinationId }) => ({ destination_id: destinationId }),
  },
  DESTINATION_NOT_PAYABLE: {
    status: Status.FAILED_PRECONDITION,
    message: ({ rail, kind }) => `The organization's account at the rail ${rail} pays no ${kind.toLowerCase()}.`,
    facts: ({ rail, kind }) => ({ rail, destination_kind: kind.toLowerCase() }),
  },
  DESTINATION_COOLING: {
    status: Status.FAILED_PRECONDITION,
    message: ({ destinationId, until }) =>
      `Destination ${destinationId} is new. Nothing is paid out to it before ${new Date(until).toISOString()}.`,
    facts: ({ destinationId, until }) => ({ destination_id: destinationId, until: new Date(until).toISOString() }),
  },
  TOO_MANY_DESTINATIONS: {
    status: Status.FAILED_PRECONDITION,
    message: ({ accountId, limit }) =>
      `Account ${accountId} already has ${String(limit)} destinations, the most that it can have.`,
    facts: ({ accountId, limit }) => ({ account_id: accountId, limit: String(limit) }),
  },
};

function ownersIn(ids: readonly (string | undefined)[]): string {
  return ids.filter((id) => id !== undefined).join(" and ") || "a correction of the book";
}

const MAKE_NEW = "Make a new mint or redemption instead.";
const OBSTACLES = {
  NOT_COMPLETED: { why: "it is not completed", instead: "Cancel it while it is pending, or wait for its end." },
  OTHER_RAIL: { why: 'its rail is not "direct"', instead: MAKE_NEW },
  IS_REVERSAL: { why: "it is a reversal itself", instead: MAKE_NEW },
  DEPOSIT: { why: "it is of a deposit", instead: "Only an operator takes the credit of a deposit back." },
} as const satisfies Record<RefusalFor<"TRANSACTION_NOT_REVERSIBLE">["cause"], object>;

/** A person can end an order only once the rail was asked, and not as failed while it is asked. */
function invalidTransition({ from, to }: RefusalFor<"INVALID_TRANSITION">): string {
  const words = `The status cannot change from ${from.toLowerCase()} to ${to.toLowerCase()}`;
  if (from === "PROCESSING" && to === "FAILED")
    return `${words} yet: the rail was asked less than a minute ago, and may still get the order. Try again in a minute.`;
  return from === "PENDING" && (to === "COMPLETED" || to === "FAILED")
    ? `${words}: the rail was not asked yet. Cancel the transaction.`
    : `${words}.`;
}

const PERIODS = { TRANSACTION: "for one transaction", DAY: "a day", MONTH: "a month" } as const;

function limitExceeded({ accountId, limitCents, reached }: RefusalFor<"LIMIT_EXCEEDED">): string {
  const whose = accountId === undefined ? "The organization" : `Account ${accountId}`;
  const limit = `${whose} would exceed the limit of ${formatCents(limitCents)}`;
  if (reached === undefined) return `${limit}.`;
  const { period, usedCents, resetsAt } = reached;
  if (usedCents === undefined || resetsAt === undefined) return `${limit} ${PERIODS[period]}.`;
  const left = formatCents(remainingCents(limitCents, usedCents));
  return `${limit} ${PERIODS[period]}: ${formatCents(usedCents)} is used, ${left} is left until ${new Date(resetsAt).toISOString()}.`;
}

function seconds(millis: number): string {
  return String(Math.ceil(millis / 1_000));
}
