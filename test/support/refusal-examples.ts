import { status as Status } from "@grpc/grpc-js";

import type { RailReceipt } from "../../src/domain/payment.js";
import type { Rail } from "../../src/domain/transaction.js";
import type { Cents } from "../../src/domain/values/cents.js";
import type {
  ApiKeyId,
  DepositId,
  DestinationId,
  FreezeId,
  ProposalId,
  TransactionId,
  WebhookEndpointId,
} from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import type { AnyRefusal, Reason } from "../../src/grpc/errors/refusal.js";
import { ACCOUNT_ID, TRANSACTION_ID } from "./service/grpc-server.js";

/** What a refusal has beside its reason, its status, and the facts that are sent. */
type Example<R extends Reason> = readonly [
  given: Omit<Extract<AnyRefusal, { reason: R }>, "reason">,
  status: Status,
  facts: Readonly<Record<string, string>>,
];

/** No rpc of kesc.v1 gives them: operators meet them, or the service itself. */
export const REASONS_OF_OPERATORS = [
  "API_KEY_NOT_FOUND",
  "BOOK_ACCOUNT_TOO_LOW",
  "BOOK_RESTORED",
  "PROPOSAL_OUTDATED",
  "OWN_PROPOSAL",
  "PROPOSAL_CLOSED",
  "PROPOSAL_NOT_FOUND",
  "RAIL_ACCOUNT_CHANGED",
  "RAIL_ACCOUNT_NOT_FOUND",
  "RAIL_PAYMENTS_UNDER_WAY",
  "TOO_MANY_PROPOSALS",
  "TOO_MANY_RESERVE_PLACES",
  "TOO_MANY_REVEALS",
  "TOO_MANY_TIERS",
] as const satisfies Reason[];

const [accountId, transactionId] = [ACCOUNT_ID, TRANSACTION_ID];
const [account_id, transaction_id] = [ACCOUNT_ID, TRANSACTION_ID];
const rail = "mpesa" as Rail;
const depositId = "dep_01jd2r6p5vf8ksw3xhb1z7q4ye" as DepositId;
const proposalId = "prp_1" as ProposalId;
const endpointId = "whe_01jd2r6p5vf8ksw3xhb1z7q4ye" as WebhookEndpointId;

/** An example of each refusal. One without an example does not compile. */
export const EXAMPLES: { [R in Reason]: Example<R> } = {
  RAIL_ACCOUNT_NOT_FOUND: [{ rail }, Status.NOT_FOUND, { rail: "mpesa" }],
  DEPOSIT_NOT_FOUND: [{ depositId }, Status.NOT_FOUND, { deposit_id: depositId }],
  DESTINATION_NOT_FOUND: [{ destinationId: "dst_1" as DestinationId }, Status.NOT_FOUND, { destination_id: "dst_1" }],
  DESTINATION_NOT_PAYABLE: [
    { rail, kind: "TILL" },
    Status.FAILED_PRECONDITION,
    { rail: "mpesa", destination_kind: "till" },
  ],
  DESTINATION_COOLING: [
    { destinationId: "dst_1" as DestinationId, until: toUnixMillis(0) },
    Status.FAILED_PRECONDITION,
    { destination_id: "dst_1", until: "1970-01-01T00:00:00.000Z" },
  ],
  TOO_MANY_DESTINATIONS: [{ accountId, limit: 20 }, Status.FAILED_PRECONDITION, { account_id, limit: "20" }],
  RAIL_PAYMENTS_UNDER_WAY: [{ rail, payments: 3 }, Status.FAILED_PRECONDITION, { rail: "mpesa", payments: "3" }],
  TOO_MANY_RESERVE_PLACES: [{ limit: 50 }, Status.FAILED_PRECONDITION, { limit: "50" }],
  WEBHOOK_ENDPOINT_NOT_FOUND: [{ endpointId }, Status.NOT_FOUND, { webhook_endpoint_id: endpointId }],
  WEBHOOK_ENDPOINT_ALREADY_EXISTS: [
    { endpointId, differingFields: ["types"] },
    Status.ALREADY_EXISTS,
    { webhook_endpoint_id: endpointId, differing_fields: "types" },
  ],
  TOO_MANY_WEBHOOK_ENDPOINTS: [{ limit: 10 }, Status.FAILED_PRECONDITION, { limit: "10" }],
  WEBHOOK_ENDPOINT_BUSY: [{ endpointId }, Status.FAILED_PRECONDITION, { webhook_endpoint_id: endpointId }],
  EVENT_NOT_FOUND: [{ sequence: 7 }, Status.NOT_FOUND, { sequence: "7" }],
  TOO_MANY_WEBHOOK_TESTS: [{ limit: 2 }, Status.RESOURCE_EXHAUSTED, { limit: "2" }],
  INVALID_FIELD: [{ fields: [] }, Status.INVALID_ARGUMENT, {}],
  MISSING_API_KEY: [{}, Status.UNAUTHENTICATED, {}],
  INVALID_API_KEY: [{}, Status.UNAUTHENTICATED, {}],
  SCOPE_REQUIRED: [{ scope: "accounts:read" }, Status.PERMISSION_DENIED, { scope: "accounts:read" }],
  RATE_LIMITED: [
    { rate: "lists", callsPerSecond: 100, retryMillis: 1_500.2 },
    Status.RESOURCE_EXHAUSTED,
    { rate: "lists", calls_per_second: "100" },
  ],
  ACCOUNT_NOT_FOUND: [{ accountId }, Status.NOT_FOUND, { account_id }],
  TRANSACTION_NOT_FOUND: [{ transactionId }, Status.NOT_FOUND, { transaction_id }],
  ACCOUNT_ALREADY_EXISTS: [
    { accountId, differingFields: ["phone_number", "email"] },
    Status.ALREADY_EXISTS,
    { account_id, differing_fields: "phone_number,email" },
  ],
  REFERENCE_ALREADY_USED: [
    { transactionId, differingFields: ["amount"] },
    Status.ALREADY_EXISTS,
    { transaction_id, differing_fields: "amount" },
  ],
  TRANSACTION_ALREADY_REVERSED: [
    { transactionId, reversedById: "txn_other" as TransactionId, differingFields: ["description"] },
    Status.ALREADY_EXISTS,
    { transaction_id, reversed_by_transaction_id: "txn_other", differing_fields: "description" },
  ],
  TRANSACTION_NOT_REVERSIBLE: [
    { transactionId, cause: "NOT_COMPLETED" },
    Status.FAILED_PRECONDITION,
    { transaction_id, cause: "not_completed" },
  ],
  IDEMPOTENCY_KEY_REUSED: [{}, Status.FAILED_PRECONDITION, {}],
  INSUFFICIENT_FUNDS: [
    { availableCents: 5 as Cents, requestedCents: 100_000 as Cents },
    Status.FAILED_PRECONDITION,
    { available: "0.05", requested: "1000.00" },
  ],
  ACCOUNT_FROZEN: [{ accountId }, Status.FAILED_PRECONDITION, { account_id }],
  FREEZE_NOT_FOUND: [{ freezeId: "frz_1" as FreezeId }, Status.NOT_FOUND, { freeze_id: "frz_1" }],
  TOO_MANY_FREEZES: [{ accountId, limit: 20 }, Status.FAILED_PRECONDITION, { account_id, limit: "20" }],
  ACCOUNT_CLOSED: [{ accountId }, Status.FAILED_PRECONDITION, { account_id }],
  ACCOUNT_ERASED: [{ accountId }, Status.FAILED_PRECONDITION, { account_id }],
  ETAG_MISMATCH: [{ etag: "42" }, Status.ABORTED, { etag: "42" }],
  ACCOUNT_NOT_EMPTY: [
    { accountId, availableCents: 1 as Cents, heldCents: 0 as Cents },
    Status.FAILED_PRECONDITION,
    { account_id, available: "0.01", held: "0.00" },
  ],
  TRANSACTION_STILL_OPEN: [{ transactionId }, Status.FAILED_PRECONDITION, { transaction_id }],
  TRANSACTION_ALREADY_ENDED: [
    { transactionId, status: "FAILED" },
    Status.FAILED_PRECONDITION,
    { transaction_id, transaction_status: "failed" },
  ],
  INVALID_TRANSITION: [{ from: "FROZEN", to: "CLOSED" }, Status.FAILED_PRECONDITION, { from: "frozen", to: "closed" }],
  LIMIT_EXCEEDED: [
    {
      accountId,
      limitCents: 100_000,
      reached: { period: "DAY", usedCents: 90_050, resetsAt: toUnixMillis(Date.UTC(2026, 0, 1, 21)) },
    },
    Status.FAILED_PRECONDITION,
    {
      account_id,
      max_amount: "1000.00",
      period: "day",
      used: "900.50",
      remaining: "99.50",
      resets_at: "2026-01-01T21:00:00.000Z",
    },
  ],
  API_KEY_NOT_FOUND: [{ keyId: "key_1" as ApiKeyId }, Status.NOT_FOUND, { api_key_id: "key_1" }],
  PROPOSAL_NOT_FOUND: [{ proposalId }, Status.NOT_FOUND, { proposal_id: proposalId }],
  PROPOSAL_CLOSED: [
    { proposalId, state: "LAPSED" },
    Status.FAILED_PRECONDITION,
    { proposal_id: proposalId, state: "lapsed" },
  ],
  PROPOSAL_OUTDATED: [
    { proposalId, what: "tier", before: "basic", now: "gold" },
    Status.FAILED_PRECONDITION,
    { proposal_id: proposalId, what: "tier", before: "basic", now: "gold" },
  ],
  OWN_PROPOSAL: [{ proposalId }, Status.PERMISSION_DENIED, { proposal_id: proposalId }],
  TOO_MANY_REVEALS: [{ limit: 60, retryMillis: 90_500 }, Status.RESOURCE_EXHAUSTED, { limit: "60" }],
  TOO_MANY_PROPOSALS: [{ limit: 20 }, Status.FAILED_PRECONDITION, { limit: "20" }],
  TOO_MANY_TIERS: [{ limit: 20 }, Status.FAILED_PRECONDITION, { limit: "20" }],
  PHONE_NUMBER_MISSING: [{ accountId }, Status.FAILED_PRECONDITION, { account_id }],
  ACCOUNT_HAS_OPEN_TRANSACTIONS: [
    { accountId, openPayments: 2 },
    Status.FAILED_PRECONDITION,
    { account_id, open_transactions: "2" },
  ],
  AMOUNT_NOT_PAYABLE: [
    {
      payable: { minCents: 1_000 as Cents, maxCents: 25_000_000 as Cents, stepCents: 100 as Cents },
      nearest: { belowCents: 1_000 as Cents, aboveCents: 1_100 as Cents },
    },
    Status.FAILED_PRECONDITION,
    { min: "10.00", max: "250000.00", step: "1.00", nearest_below: "10.00", nearest_above: "11.00" },
  ],
  PHONE_NUMBER_COOLING: [
    { accountId, until: toUnixMillis(1_700_000_000_000) },
    Status.FAILED_PRECONDITION,
    { account_id, until: "2023-11-14T22:13:20.000Z" },
  ],
  RECEIPT_REQUIRED: [{}, Status.FAILED_PRECONDITION, {}],
  RECEIPT_ALREADY_USED: [
    { receipt: "RKT1" as RailReceipt, transactionId, depositId },
    Status.ALREADY_EXISTS,
    { rail_receipt: "RKT1", transaction_id, deposit_id: depositId },
  ],
  RECEIPT_OF_OTHER_RAIL: [{ rail }, Status.FAILED_PRECONDITION, { rail: "mpesa" }],
  BOOK_ACCOUNT_TOO_LOW: [
    { bookAccount: "shortfall", balanceCents: 100, requestedCents: 200 as Cents },
    Status.FAILED_PRECONDITION,
    { book_account: "shortfall", balance: "1.00", requested: "2.00" },
  ],
  BOOK_RESTORED: [{}, Status.FAILED_PRECONDITION, {}],
  RAIL_ACCOUNT_CHANGED: [{}, Status.FAILED_PRECONDITION, {}],
  RAIL_NOT_CONFIGURED: [{ rail }, Status.FAILED_PRECONDITION, { rail: "mpesa" }],
  PHONE_NUMBER_NOT_PAYABLE: [{ rail }, Status.FAILED_PRECONDITION, { rail: "mpesa" }],
  PAYMENT_NOT_FOUND: [{ transactionId }, Status.NOT_FOUND, { transaction_id }],
  RAIL_NOT_SANDBOX: [
    { transactionId, rail: "direct" as Rail },
    Status.FAILED_PRECONDITION,
    { transaction_id, rail: "direct" },
  ],
  CHECKPOINT_NOT_FOUND: [{ size: 7 }, Status.NOT_FOUND, { size: "7" }],
  NOT_SEALED: [{ sealedSize: 7 }, Status.FAILED_PRECONDITION, { sealed_size: "7" }],
  ORGANIZATION_SUSPENDED: [{}, Status.PERMISSION_DENIED, {}],
  BOOK_MOVING: [{}, Status.UNAVAILABLE, {}],
  CLOCK_BEHIND: [{ behindMillis: 60_001 }, Status.UNAVAILABLE, { behind_seconds: "61" }],
  QUEUE_FULL: [{}, Status.RESOURCE_EXHAUSTED, {}],
  STORAGE_UNAVAILABLE: [{}, Status.UNAVAILABLE, {}],
  SHUTTING_DOWN: [{}, Status.UNAVAILABLE, {}],
  MALFORMED_REQUEST: [{ problem: "The body has no message." }, Status.INVALID_ARGUMENT, {}],
  UNSUPPORTED_COMPRESSION: [{}, Status.UNIMPLEMENTED, {}],
  NO_SUCH_RPC: [{}, Status.UNIMPLEMENTED, {}],
  REQUEST_TOO_LARGE: [{ bytesMax: 262_144 }, Status.INVALID_ARGUMENT, { bytes_max: "262144" }],
  TOO_MANY_STREAMS: [{ streamsMax: 2 }, Status.RESOURCE_EXHAUSTED, { streams_max: "2" }],
  OUTCOME_UNKNOWN: [{}, Status.DEADLINE_EXCEEDED, {}],
  INTERNAL: [{ requestId: "r-1" }, Status.INTERNAL, { request_id: "r-1" }],
  DEADLINE_EXCEEDED: [{}, Status.DEADLINE_EXCEEDED, {}],
};

/** Returns the example of a reason. */
export function exampleOf<R extends Reason>(reason: R): Extract<AnyRefusal, { reason: R }> {
  return { reason, ...EXAMPLES[reason][0] } as unknown as Extract<AnyRefusal, { reason: R }>;
}
