import { status as Status } from "@grpc/grpc-js";

import { remainingCents } from "../../domain/limits/usage.js";
import type { Refusal } from "../../domain/refusal.js";
import { formatCents } from "../../domain/values/cents.js";
import {
  alreadyExists,
  type Answers,
  failedPrecondition,
  listOf,
  notFound,
  orNoCents,
  orNoTime,
  permissionDenied,
  resourceExhausted,
  saying,
  secondsOf,
  SOON_MILLIS,
  unavailable,
} from "./refusal.js";

type RefusalFor<Reason> = Extract<Refusal, { readonly reason: Reason }>;

/** The answers for the rules of accounts and money. */
export const BOOK_REFUSALS: Answers<Refusal> = {
  ACCOUNT_NOT_FOUND: notFound`Account ${"accountId"} was not found.`,
  TRANSACTION_NOT_FOUND: notFound`Transaction ${"transactionId"} was not found.`,
  PAYMENT_NOT_FOUND: notFound`Transaction ${"transactionId"} has no payment: it was not given to a rail.`,
  DEPOSIT_NOT_FOUND: notFound`Deposit ${"depositId"} was not found.`,
  FREEZE_NOT_FOUND: notFound`Freeze ${"freezeId"} was not found on the account.`,
  ACCOUNT_ALREADY_EXISTS: alreadyExists`The user_id already has the account ${"accountId"}, with another ${"differingFields"}.`,
  REFERENCE_ALREADY_USED: alreadyExists`The reference already belongs to ${"transactionId"}, with another ${"differingFields"}. Look at that transaction before you try again.`,
  IDEMPOTENCY_KEY_REUSED: failedPrecondition`The idempotency key belongs to a request with other content. Use a new key.`,
  TRANSACTION_STILL_OPEN: failedPrecondition`Transaction ${"transactionId"} is processing. Resolve it first. Then clear its flags.`,
  TRANSACTION_ALREADY_ENDED: failedPrecondition`Transaction ${"transactionId"} is already ${"status"}, in another way.`,
  TRANSACTION_ALREADY_REVERSED: alreadyExists`Transaction ${"transactionId"} was already reversed by ${"reversedById"}, with another ${"differingFields"}. Look at that reversal before you try again.`,
  TRANSACTION_NOT_REVERSIBLE: {
    status: Status.FAILED_PRECONDITION,
    message: ({ transactionId, cause }) => {
      const { why, instead } = OBSTACLES[cause];
      return `Transaction ${transactionId} cannot be reversed: ${why} (${cause.toLowerCase()}). ${instead}`;
    },
    facts: ({ transactionId, cause }) => ({ transaction_id: transactionId, cause: cause.toLowerCase() }),
  },
  INSUFFICIENT_FUNDS: failedPrecondition`Insufficient available balance: ${"availableCents"} available, ${"requestedCents"} requested.`,
  ACCOUNT_FROZEN: failedPrecondition`Account ${"accountId"} is frozen. Lift its freezes first.`,
  TOO_MANY_FREEZES: failedPrecondition`Account ${"accountId"} already has ${"limit"} freezes, the most that can stand. It stays frozen.`,
  ACCOUNT_CLOSED: failedPrecondition`Account ${"accountId"} is closed. A closed account stays closed.`,
  ETAG_MISMATCH: saying(
    Status.ABORTED,
  )`The resource has changed: its etag is now ${"etag"}. Nothing was done. Read the resource again.`,
  ACCOUNT_ERASED: failedPrecondition`The personal data of account ${"accountId"} was erased.`,
  ACCOUNT_NOT_EMPTY: failedPrecondition`Account ${"accountId"} is not empty: ${"availableCents"} available, ${"heldCents"} held. Redeem the balance first.`,
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
  TOO_MANY_TIERS: failedPrecondition`The organization has limits for ${"limit"} tiers, the most that it can have. Remove one first.`,
  API_KEY_NOT_FOUND: notFound`There is no key ${"keyId"}.`,
  PROPOSAL_NOT_FOUND: notFound`There is no proposal ${"proposalId"}.`,
  PROPOSAL_CLOSED: failedPrecondition`The proposal ${"proposalId"} is ${"state"}. It can no longer be decided.`,
  PROPOSAL_OUTDATED: failedPrecondition`The proposal ${"proposalId"} is older than another change: "${"what"}" was "${"before"}" and is "${"now"}" now. Nothing was done. If it is still wanted, propose it again.`,
  OWN_PROPOSAL: permissionDenied`You have made the proposal ${"proposalId"}, or it is about yourself. Another person must approve it.`,
  TOO_MANY_PROPOSALS: failedPrecondition`You have ${"limit"} proposals that wait, and more are not allowed. Reject those that you do not need.`,
  ACCOUNT_HAS_OPEN_TRANSACTIONS: failedPrecondition`Account ${"accountId"} has ${"openPayments"} open transactions. Wait until they have ended, or cancel them.`,
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
  RAIL_NOT_CONFIGURED: failedPrecondition`The organization cannot use the rail ${"rail"}. Name another one, or ask the operator.`,
  PHONE_NUMBER_NOT_PAYABLE: failedPrecondition`The rail ${"rail"} cannot reach the phone number.`,
  PHONE_NUMBER_COOLING: failedPrecondition`The phone number of account ${"accountId"} was changed a short time ago. Nothing is paid out to it before ${"until"}.`,
  PHONE_NUMBER_MISSING: failedPrecondition`Account ${"accountId"} has no phone number, because its personal data was erased.`,
  RECEIPT_REQUIRED: failedPrecondition`The organization takes deposits, so a mint on the direct rail needs a receipt. Without it, the same shillings could be credited twice.`,
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
  RECEIPT_OF_OTHER_RAIL: failedPrecondition`The receipt is none of the rail ${"rail"}, which has the order. Give that of this rail.`,
  BOOK_ACCOUNT_TOO_LOW: failedPrecondition`The book account ${"bookAccount"} has ${"balanceCents"}, but ${"requestedCents"} was requested.`,
  BOOK_RESTORED: failedPrecondition`The book comes from a backup. No payment begins until an operator has activated it.`,
  RAIL_ACCOUNT_CHANGED: failedPrecondition`The account at the rail has changed meanwhile. Try again.`,
  RAIL_ACCOUNT_NOT_FOUND: notFound`The organization has no account at the rail ${"rail"}.`,
  RAIL_PAYMENTS_UNDER_WAY: failedPrecondition`Payments over ${"rail"} are under way: ${"payments"}. Another place would not know them. Wait until they have ended.`,
  TOO_MANY_RESERVE_PLACES: failedPrecondition`The organization has figures of ${"limit"} places, and more are not allowed. Record the figure for one of them.`,
  TOO_MANY_REVEALS: {
    status: Status.RESOURCE_EXHAUSTED,
    message: ({ limit, retryMillis }) =>
      `You looked at personal data, or looked for it, ${String(limit)} times in an hour, and more are not allowed. Nothing was shown. Try again in ${secondsOf(retryMillis)} seconds.`,
    facts: ({ limit }) => ({ limit: String(limit) }),
    retryMillis: ({ retryMillis }) => retryMillis,
  },
  ORGANIZATION_SUSPENDED: permissionDenied`The operator has suspended the organization. Calls that read still work. Ask the operator.`,
  WEBHOOK_ENDPOINT_NOT_FOUND: notFound`Webhook endpoint ${"endpointId"} was not found.`,
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
  TOO_MANY_WEBHOOK_ENDPOINTS: failedPrecondition`The organization already has ${"limit"} webhook endpoints, the most that it can have.`,
  WEBHOOK_ENDPOINT_BUSY: {
    ...failedPrecondition`Webhook endpoint ${"endpointId"} already replays another range, or too many of its events are undelivered.`,
    retryMillis: SOON_MILLIS,
  },
  EVENT_NOT_FOUND: notFound`The book has no event with the sequence ${"sequence"}.`,
  TOO_MANY_WEBHOOK_TESTS: {
    ...resourceExhausted`The organization already sends ${"limit"} test events. Nothing was done. Send the request again later.`,
    retryMillis: SOON_MILLIS,
  },
  BOOK_MOVING: {
    ...unavailable`The accounts of the organization are being moved. Nothing was done. Send the request again.`,
    retryMillis: SOON_MILLIS,
  },
  CLOCK_BEHIND: {
    ...unavailable`The clock of the server is ${"behindMillis"} seconds slow. Nothing was done. Send the request again.`,
    retryMillis: SOON_MILLIS,
  },
  DESTINATION_NOT_FOUND: notFound`Destination ${"destinationId"} was not found on the account, or was removed.`,
  DESTINATION_NOT_PAYABLE: failedPrecondition`The organization's account at the rail ${"rail"} pays no ${"kind"}.`,
  DESTINATION_COOLING: failedPrecondition`Destination ${"destinationId"} is new. Nothing is paid out to it before ${"until"}.`,
  TOO_MANY_DESTINATIONS: failedPrecondition`Account ${"accountId"} already has ${"limit"} destinations, the most that it can have.`,
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
