import { remainingCents } from "../../domain/limits/usage.js";
import { formatCents } from "../../domain/values/cents.js";
import type { LedgerRefusal } from "../../ledger/ports/outcome.js";
import {
  type AnyRefusal,
  type CallRefusal,
  isRailRefusal,
  isWebhookRefusal,
  type RailRefusal,
  type WebhookRefusal,
} from "./refusal.js";

/** Returns the text of a refusal for people. The details hold the same facts for programs. */
export function messageOf(refusal: AnyRefusal): string {
  if (isRailRefusal(refusal)) return railMessageOf(refusal);
  if (isWebhookRefusal(refusal)) return webhookMessageOf(refusal);
  if (refusal.reason === "LIMIT_EXCEEDED" || refusal.reason === "TOO_MANY_TIERS") return limitMessageOf(refusal);
  switch (refusal.reason) {
    case "ACCOUNT_NOT_FOUND":
      return `Account ${refusal.accountId} was not found.`;
    case "TRANSACTION_NOT_FOUND":
      return `Transaction ${refusal.transactionId} was not found.`;
    case "ACCOUNT_ALREADY_EXISTS":
      return `The user_id already has the account ${refusal.accountId}, with another ${listOf(refusal.differingFields)}.`;
    case "REFERENCE_ALREADY_USED":
      return referenceUsed(refusal);
    case "TRANSACTION_ALREADY_REVERSED":
      return alreadyReversed(refusal);
    case "TRANSACTION_NOT_REVERSIBLE":
      return notReversible(refusal);
    case "IDEMPOTENCY_KEY_REUSED":
      return "The idempotency key belongs to a request with other content. Use a new key.";
    case "INSUFFICIENT_FUNDS": {
      const { availableCents, requestedCents } = refusal;
      return `Insufficient available balance: ${formatCents(availableCents)} available, ${formatCents(requestedCents)} requested.`;
    }
    case "ACCOUNT_FROZEN":
      return `Account ${refusal.accountId} is frozen. Lift its freezes first.`;
    case "FREEZE_NOT_FOUND":
      return `Freeze ${refusal.freezeId} was not found on the account.`;
    case "TOO_MANY_FREEZES":
      return `Account ${refusal.accountId} already has ${String(refusal.limit)} freezes, the most that can stand. It stays frozen.`;
    case "ACCOUNT_CLOSED":
      return `Account ${refusal.accountId} is closed. A closed account stays closed.`;
    case "ACCOUNT_ERASED":
      return `The personal data of account ${refusal.accountId} was erased.`;
    case "ETAG_MISMATCH":
      return `The resource has changed: its etag is now ${refusal.etag}. Nothing was done. Read the resource again.`;
    case "ACCOUNT_NOT_EMPTY": {
      const { accountId, availableCents, heldCents } = refusal;
      const balances = `${formatCents(availableCents)} available, ${formatCents(heldCents)} held`;
      return `Account ${accountId} is not empty: ${balances}. Redeem the balance first.`;
    }
    case "INVALID_TRANSITION":
      return invalidTransition(refusal);
    case "ORGANIZATION_SUSPENDED":
      return "The operator has suspended the organization. Calls that read still work. Ask the operator.";
    case "BOOK_MOVING":
      return "The accounts of the organization are being moved. Nothing was done. Send the request again.";
    case "CLOCK_BEHIND":
      return clockBehind(refusal);
    case "QUEUE_FULL":
    case "STORAGE_UNAVAILABLE":
    case "SHUTTING_DOWN":
    case "DEADLINE_EXCEEDED":
    case "INVALID_FIELD":
    case "MISSING_API_KEY":
    case "INVALID_API_KEY":
    case "SCOPE_REQUIRED":
    case "RATE_LIMITED":
    case "MALFORMED_REQUEST":
    case "UNSUPPORTED_COMPRESSION":
    case "NO_SUCH_RPC":
    case "REQUEST_TOO_LARGE":
    case "TOO_MANY_STREAMS":
    case "OUTCOME_UNKNOWN":
    case "CHECKPOINT_NOT_FOUND":
    case "NOT_SEALED":
    case "INTERNAL":
      return messageOfServer(refusal);
  }
}

const PERIODS = { TRANSACTION: "for one transaction", DAY: "a day", MONTH: "a month" } as const;

function limitMessageOf(refusal: Extract<AnyRefusal, { reason: "LIMIT_EXCEEDED" | "TOO_MANY_TIERS" }>): string {
  if (refusal.reason === "TOO_MANY_TIERS") {
    return `The organization has limits for ${String(refusal.limit)} tiers, the most that it can have. Remove one first.`;
  }
  const { accountId, limitCents, reached } = refusal;
  const whose = accountId === undefined ? "The organization" : `Account ${accountId}`;
  const limit = `${whose} would exceed the limit of ${formatCents(limitCents)}`;
  if (reached === undefined) return `${limit}.`;
  const { period, usedCents, resetsAt } = reached;
  if (usedCents === undefined || resetsAt === undefined) return `${limit} ${PERIODS[period]}.`;
  const left = formatCents(remainingCents(limitCents, usedCents));
  return `${limit} ${PERIODS[period]}: ${formatCents(usedCents)} is used, ${left} is left until ${new Date(resetsAt).toISOString()}.`;
}

/** Returns the text of a refusal by the server itself, whatever the call. */
function messageOfServer(refusal: Exclude<CallRefusal, RailRefusal | WebhookRefusal> | LedgerRefusal): string {
  switch (refusal.reason) {
    case "INVALID_FIELD": {
      // A user of grpcurl sees this text, but the details only as bytes.
      const problems = refusal.fields.map(({ field, message }) => `${field} ${message}`);
      return `Invalid request: ${problems.join("; ")}.`;
    }
    case "MISSING_API_KEY":
      return "The API key is missing. Send it as x-api-key, or as authorization: Bearer.";
    case "INVALID_API_KEY":
      return "The API key is invalid: it is unknown, expired or revoked.";
    case "SCOPE_REQUIRED":
      return `The API key lacks the scope ${refusal.scope}. Use a key that has it.`;
    case "RATE_LIMITED": {
      const calls = refusal.rate === "lists" ? "lists and exports" : "calls";
      return `The API key makes more than ${String(refusal.callsPerSecond)} ${calls} a second. Nothing was done. Send the request again later.`;
    }
    case "QUEUE_FULL":
      return "Too many requests are waiting. Nothing was done. Send the request again later.";
    case "STORAGE_UNAVAILABLE":
      return "The database is unavailable. Send the same request again: repeating it is safe.";
    case "SHUTTING_DOWN":
      return "The server is shutting down. Nothing was done. Send the request again.";
    case "DEADLINE_EXCEEDED":
      return "The deadline passed before the request was started. Nothing was done. Send the request again.";
    case "INTERNAL":
      return `An internal error occurred. The operator finds its cause in the log by the request id ${refusal.requestId}.`;
    case "MALFORMED_REQUEST":
      return `Malformed gRPC call: ${refusal.problem} Nothing was done.`;
    case "UNSUPPORTED_COMPRESSION":
      return "The grpc-encoding is unknown. Nothing was done. Use gzip, deflate or identity.";
    case "NO_SUCH_RPC":
      return "Unknown rpc. Check the names of its package, service and method.";
    case "REQUEST_TOO_LARGE":
      return `The request is larger than ${String(refusal.bytesMax)} bytes. Nothing was done. Send less in one call.`;
    case "TOO_MANY_STREAMS":
      return (
        `The organization has ${String(refusal.streamsMax)} open import streams, and more are not allowed. ` +
        "Nothing was done. Try again when one has ended."
      );
    case "CHECKPOINT_NOT_FOUND":
      return refusal.size === undefined
        ? "The book has no checkpoint yet. A new row is sealed within minutes, if the operator has set up seals."
        : `The book has no checkpoint of the size ${String(refusal.size)}. Ask for the newest one.`;
    case "NOT_SEALED":
      return `The checkpoint covers the rows up to ${String(refusal.sealedSize)}. The next one comes within minutes. Ask again then.`;
    case "OUTCOME_UNKNOWN":
      return "The deadline passed before the response. Send the same request again: it shows the outcome.";
  }
}

type RefusalFor<Reason> = Extract<AnyRefusal, { readonly reason: Reason }>;

/** A person can end an order only once the rail was asked, and not as failed while it is asked. */
function invalidTransition({ from, to }: RefusalFor<"INVALID_TRANSITION">): string {
  const words = `The status cannot change from ${from.toLowerCase()} to ${to.toLowerCase()}`;
  if (from === "PROCESSING" && to === "FAILED")
    return `${words} yet: the rail was asked less than a minute ago, and may still get the order. Try again in a minute.`;
  return from === "PENDING" && (to === "COMPLETED" || to === "FAILED")
    ? `${words}: the rail was not asked yet. Cancel the transaction.`
    : `${words}.`;
}

function clockBehind({ behindMillis }: RefusalFor<"CLOCK_BEHIND">): string {
  const seconds = String(Math.ceil(behindMillis / 1_000));
  return `The clock of the server is ${seconds} seconds slow. Nothing was done. Send the request again.`;
}

function referenceUsed({ transactionId, differingFields }: RefusalFor<"REFERENCE_ALREADY_USED">): string {
  const words = `The reference already belongs to ${transactionId}, with another ${listOf(differingFields)}`;
  return `${words}. Look at that transaction before you try again.`;
}

function alreadyReversed(refusal: RefusalFor<"TRANSACTION_ALREADY_REVERSED">): string {
  const { transactionId, reversedById, differingFields } = refusal;
  const words = `Transaction ${transactionId} was already reversed by ${reversedById}`;
  return `${words}, with another ${listOf(differingFields)}. Look at that reversal before you try again.`;
}

function notReversible({ transactionId, cause }: RefusalFor<"TRANSACTION_NOT_REVERSIBLE">): string {
  const words = `Transaction ${transactionId} cannot be reversed: ${OBSTACLES[cause]} (${cause.toLowerCase()})`;
  return `${words}. Make a new mint or redemption instead.`;
}

const OBSTACLES = {
  NOT_COMPLETED: "it is not completed",
  OTHER_RAIL: 'its rail is not "direct"',
  IS_REVERSAL: "it is a reversal itself",
} as const satisfies Record<RefusalFor<"TRANSACTION_NOT_REVERSIBLE">["cause"], string>;

function webhookMessageOf(refusal: WebhookRefusal): string {
  switch (refusal.reason) {
    case "WEBHOOK_ENDPOINT_NOT_FOUND":
      return `Webhook endpoint ${refusal.endpointId} was not found.`;
    case "WEBHOOK_ENDPOINT_ALREADY_EXISTS":
      return `The url already has the webhook endpoint ${refusal.endpointId}${differing(refusal.differingFields)}.`;
    case "TOO_MANY_WEBHOOK_ENDPOINTS":
      return `The organization already has ${String(refusal.limit)} webhook endpoints, the most that it can have.`;
    case "WEBHOOK_ENDPOINT_BUSY":
      return `Webhook endpoint ${refusal.endpointId} already replays another range, or too many of its events are undelivered.`;
    case "EVENT_NOT_FOUND":
      return `The book has no event with the sequence ${String(refusal.sequence)}.`;
    case "TOO_MANY_WEBHOOK_TESTS":
      return `The organization already sends ${String(refusal.limit)} test events. Nothing was done. Send the request again later.`;
  }
}

function differing(fields: readonly string[]): string {
  return fields.length === 0 ? "" : `, with other values of ${listOf(fields)}`;
}

function railMessageOf(refusal: RailRefusal): string {
  switch (refusal.reason) {
    case "PHONE_NUMBER_MISSING":
      return `Account ${refusal.accountId} has no phone number, because its personal data was erased.`;
    case "PHONE_NUMBER_NOT_PAYABLE":
      return `The rail ${refusal.rail} cannot reach the phone number.`;
    case "RAIL_NOT_CONFIGURED":
      return `The organization cannot use the rail ${refusal.rail}. Name another one, or ask the operator.`;
    case "TRANSACTION_STILL_OPEN":
      return `Transaction ${refusal.transactionId} is processing. Resolve it first. Then clear its flags.`;
    case "TRANSACTION_ALREADY_ENDED":
      return `Transaction ${refusal.transactionId} is already ${refusal.status.toLowerCase()}, in another way.`;
    case "PAYMENT_NOT_FOUND":
      return `Transaction ${refusal.transactionId} has no payment: it was not given to a rail.`;
    case "RAIL_NOT_SANDBOX":
      return `Transaction ${refusal.transactionId} has the rail ${refusal.rail}. Only the rail sandbox can be advanced.`;
    case "ACCOUNT_HAS_OPEN_TRANSACTIONS":
      return `Account ${refusal.accountId} has ${String(refusal.openPayments)} open transactions. Wait until they have ended, or cancel them.`;
    case "AMOUNT_NOT_PAYABLE": {
      const { minCents, maxCents, stepCents } = refusal.payable;
      const range = `from ${formatCents(minCents)} to ${formatCents(maxCents)} in steps of ${formatCents(stepCents)}`;
      const { belowCents, aboveCents } = refusal.nearest;
      const nearest = [belowCents, aboveCents].flatMap((cents) => (cents === undefined ? [] : [formatCents(cents)]));
      return `The rail pays amounts ${range}. The nearest: ${listOf(nearest)}.`;
    }
    case "PHONE_NUMBER_COOLING":
      return `The phone number of account ${refusal.accountId} was changed a short time ago. Nothing is paid out to it before ${new Date(refusal.until).toISOString()}.`;
    case "RECEIPT_ALREADY_USED":
      return `The receipt ${refusal.receipt} already belongs to ${refusal.transactionId ?? "a correction of the book"}.`;
    case "BOOK_ACCOUNT_TOO_LOW": {
      const { bookAccount, balanceCents, requestedCents } = refusal;
      return `The book account ${bookAccount} has ${formatCents(balanceCents)}, but ${formatCents(requestedCents)} was requested.`;
    }
    case "BOOK_RESTORED":
      return "The book comes from a backup. No payment begins until an operator has activated it.";
    case "RAIL_ACCOUNT_CHANGED":
      return "The account at the rail has changed. The service begins the payment again by itself.";
  }
}

function listOf(fields: readonly string[]): string {
  return [...fields.slice(0, -2), fields.slice(-2).join(" and ")].join(", ");
}
