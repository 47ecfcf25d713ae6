import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { RailReceipt } from "../../../src/domain/payment.js";
import type { Rail } from "../../../src/domain/transaction.js";
import type { Cents } from "../../../src/domain/values/cents.js";
import type {
  ApiKeyId,
  DepositId,
  DestinationId,
  FreezeId,
  ProposalId,
  TransactionId,
  WebhookEndpointId,
} from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { AnyRefusal, Reason } from "../../../src/grpc/errors/refusal.js";
import { statusOf } from "../../../src/grpc/errors/status.js";
import { readContract } from "../../../src/grpc/messages/contract.js";
import type { FieldProblem } from "../../../src/grpc/messages/fields.js";
import { detailsOf } from "../../support/callers/refusal.js";
import { expectDetail, expectShortSentences } from "../../support/callers/style.js";
import { ACCOUNT_ID, TRANSACTION_ID } from "../../support/service/grpc-server.js";

type Example<R extends Reason> = [Extract<AnyRefusal, { reason: R }>, Status, Record<string, string>];

/** No rpc of kesc.v1 gives them: operators meet them, or the service itself. */
const REASONS_OF_OPERATORS = [
  "API_KEY_NOT_FOUND",
  "BOOK_ACCOUNT_TOO_LOW",
  "BOOK_RESTORED",
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

const DEPOSIT_ID = "dep_01jd2r6p5vf8ksw3xhb1z7q4ye" as DepositId;
const PROPOSAL_ID = "prp_1" as ProposalId;
const ENDPOINT_ID = "whe_01jd2r6p5vf8ksw3xhb1z7q4ye" as WebhookEndpointId;

const EXAMPLES: { [R in Reason]: Example<R> } = {
  RAIL_ACCOUNT_NOT_FOUND: [
    { reason: "RAIL_ACCOUNT_NOT_FOUND", rail: "mpesa" as Rail },
    Status.NOT_FOUND,
    { rail: "mpesa" },
  ],
  DEPOSIT_NOT_FOUND: [
    { reason: "DEPOSIT_NOT_FOUND", depositId: DEPOSIT_ID },
    Status.NOT_FOUND,
    { deposit_id: DEPOSIT_ID },
  ],
  DESTINATION_NOT_FOUND: [
    { reason: "DESTINATION_NOT_FOUND", destinationId: "dst_1" as DestinationId },
    Status.NOT_FOUND,
    { destination_id: "dst_1" },
  ],
  DESTINATION_NOT_PAYABLE: [
    { reason: "DESTINATION_NOT_PAYABLE", rail: "mpesa" as Rail, kind: "TILL" },
    Status.FAILED_PRECONDITION,
    { rail: "mpesa", destination_kind: "till" },
  ],
  DESTINATION_COOLING: [
    { reason: "DESTINATION_COOLING", destinationId: "dst_1" as DestinationId, until: toUnixMillis(0) },
    Status.FAILED_PRECONDITION,
    { destination_id: "dst_1", until: "1970-01-01T00:00:00.000Z" },
  ],
  TOO_MANY_DESTINATIONS: [
    { reason: "TOO_MANY_DESTINATIONS", accountId: ACCOUNT_ID, limit: 20 },
    Status.FAILED_PRECONDITION,
    { account_id: ACCOUNT_ID, limit: "20" },
  ],
  RAIL_PAYMENTS_UNDER_WAY: [
    { reason: "RAIL_PAYMENTS_UNDER_WAY", rail: "mpesa" as Rail, payments: 3 },
    Status.FAILED_PRECONDITION,
    { rail: "mpesa", payments: "3" },
  ],
  TOO_MANY_RESERVE_PLACES: [
    { reason: "TOO_MANY_RESERVE_PLACES", limit: 50 },
    Status.FAILED_PRECONDITION,
    { limit: "50" },
  ],
  WEBHOOK_ENDPOINT_NOT_FOUND: [
    { reason: "WEBHOOK_ENDPOINT_NOT_FOUND", endpointId: ENDPOINT_ID },
    Status.NOT_FOUND,
    { webhook_endpoint_id: ENDPOINT_ID },
  ],
  WEBHOOK_ENDPOINT_ALREADY_EXISTS: [
    { reason: "WEBHOOK_ENDPOINT_ALREADY_EXISTS", endpointId: ENDPOINT_ID, differingFields: ["types"] },
    Status.ALREADY_EXISTS,
    { webhook_endpoint_id: ENDPOINT_ID, differing_fields: "types" },
  ],
  TOO_MANY_WEBHOOK_ENDPOINTS: [
    { reason: "TOO_MANY_WEBHOOK_ENDPOINTS", limit: 10 },
    Status.FAILED_PRECONDITION,
    { limit: "10" },
  ],
  WEBHOOK_ENDPOINT_BUSY: [
    { reason: "WEBHOOK_ENDPOINT_BUSY", endpointId: ENDPOINT_ID },
    Status.FAILED_PRECONDITION,
    { webhook_endpoint_id: ENDPOINT_ID },
  ],
  EVENT_NOT_FOUND: [{ reason: "EVENT_NOT_FOUND", sequence: 7 }, Status.NOT_FOUND, { sequence: "7" }],
  TOO_MANY_WEBHOOK_TESTS: [{ reason: "TOO_MANY_WEBHOOK_TESTS", limit: 2 }, Status.RESOURCE_EXHAUSTED, { limit: "2" }],
  INVALID_FIELD: [{ reason: "INVALID_FIELD", fields: [] }, Status.INVALID_ARGUMENT, {}],
  MISSING_API_KEY: [{ reason: "MISSING_API_KEY" }, Status.UNAUTHENTICATED, {}],
  INVALID_API_KEY: [{ reason: "INVALID_API_KEY" }, Status.UNAUTHENTICATED, {}],
  SCOPE_REQUIRED: [
    { reason: "SCOPE_REQUIRED", scope: "accounts:read" },
    Status.PERMISSION_DENIED,
    { scope: "accounts:read" },
  ],
  RATE_LIMITED: [
    { reason: "RATE_LIMITED", rate: "lists", callsPerSecond: 100, retryMillis: 1_500.2 },
    Status.RESOURCE_EXHAUSTED,
    { rate: "lists", calls_per_second: "100" },
  ],
  ACCOUNT_NOT_FOUND: [
    { reason: "ACCOUNT_NOT_FOUND", accountId: ACCOUNT_ID },
    Status.NOT_FOUND,
    { account_id: ACCOUNT_ID },
  ],
  TRANSACTION_NOT_FOUND: [
    { reason: "TRANSACTION_NOT_FOUND", transactionId: TRANSACTION_ID },
    Status.NOT_FOUND,
    { transaction_id: TRANSACTION_ID },
  ],
  ACCOUNT_ALREADY_EXISTS: [
    { reason: "ACCOUNT_ALREADY_EXISTS", accountId: ACCOUNT_ID, differingFields: ["phone_number", "email"] },
    Status.ALREADY_EXISTS,
    { account_id: ACCOUNT_ID, differing_fields: "phone_number,email" },
  ],
  REFERENCE_ALREADY_USED: [
    { reason: "REFERENCE_ALREADY_USED", transactionId: TRANSACTION_ID, differingFields: ["amount"] },
    Status.ALREADY_EXISTS,
    { transaction_id: TRANSACTION_ID, differing_fields: "amount" },
  ],
  TRANSACTION_ALREADY_REVERSED: [
    {
      reason: "TRANSACTION_ALREADY_REVERSED",
      transactionId: TRANSACTION_ID,
      reversedById: "txn_other" as TransactionId,
      differingFields: ["description"],
    },
    Status.ALREADY_EXISTS,
    { transaction_id: TRANSACTION_ID, reversed_by_transaction_id: "txn_other", differing_fields: "description" },
  ],
  TRANSACTION_NOT_REVERSIBLE: [
    { reason: "TRANSACTION_NOT_REVERSIBLE", transactionId: TRANSACTION_ID, cause: "NOT_COMPLETED" },
    Status.FAILED_PRECONDITION,
    { transaction_id: TRANSACTION_ID, cause: "not_completed" },
  ],
  IDEMPOTENCY_KEY_REUSED: [{ reason: "IDEMPOTENCY_KEY_REUSED" }, Status.FAILED_PRECONDITION, {}],
  INSUFFICIENT_FUNDS: [
    { reason: "INSUFFICIENT_FUNDS", availableCents: 5 as Cents, requestedCents: 100_000 as Cents },
    Status.FAILED_PRECONDITION,
    { available: "0.05", requested: "1000.00" },
  ],
  ACCOUNT_FROZEN: [
    { reason: "ACCOUNT_FROZEN", accountId: ACCOUNT_ID },
    Status.FAILED_PRECONDITION,
    { account_id: ACCOUNT_ID },
  ],
  FREEZE_NOT_FOUND: [
    { reason: "FREEZE_NOT_FOUND", freezeId: "frz_1" as FreezeId },
    Status.NOT_FOUND,
    { freeze_id: "frz_1" },
  ],
  TOO_MANY_FREEZES: [
    { reason: "TOO_MANY_FREEZES", accountId: ACCOUNT_ID, limit: 20 },
    Status.FAILED_PRECONDITION,
    { account_id: ACCOUNT_ID, limit: "20" },
  ],
  ACCOUNT_CLOSED: [
    { reason: "ACCOUNT_CLOSED", accountId: ACCOUNT_ID },
    Status.FAILED_PRECONDITION,
    { account_id: ACCOUNT_ID },
  ],
  ACCOUNT_ERASED: [
    { reason: "ACCOUNT_ERASED", accountId: ACCOUNT_ID },
    Status.FAILED_PRECONDITION,
    { account_id: ACCOUNT_ID },
  ],
  ETAG_MISMATCH: [{ reason: "ETAG_MISMATCH", etag: "42" }, Status.ABORTED, { etag: "42" }],
  ACCOUNT_NOT_EMPTY: [
    { reason: "ACCOUNT_NOT_EMPTY", accountId: ACCOUNT_ID, availableCents: 1 as Cents, heldCents: 0 as Cents },
    Status.FAILED_PRECONDITION,
    { account_id: ACCOUNT_ID, available: "0.01", held: "0.00" },
  ],
  TRANSACTION_STILL_OPEN: [
    { reason: "TRANSACTION_STILL_OPEN", transactionId: TRANSACTION_ID },
    Status.FAILED_PRECONDITION,
    { transaction_id: TRANSACTION_ID },
  ],
  TRANSACTION_ALREADY_ENDED: [
    { reason: "TRANSACTION_ALREADY_ENDED", transactionId: TRANSACTION_ID, status: "FAILED" },
    Status.FAILED_PRECONDITION,
    { transaction_id: TRANSACTION_ID, transaction_status: "failed" },
  ],
  INVALID_TRANSITION: [
    { reason: "INVALID_TRANSITION", from: "FROZEN", to: "CLOSED" },
    Status.FAILED_PRECONDITION,
    { from: "frozen", to: "closed" },
  ],
  LIMIT_EXCEEDED: [
    {
      reason: "LIMIT_EXCEEDED",
      accountId: ACCOUNT_ID,
      limitCents: 100_000,
      reached: { period: "DAY", usedCents: 90_050, resetsAt: toUnixMillis(Date.UTC(2026, 0, 1, 21)) },
    },
    Status.FAILED_PRECONDITION,
    {
      account_id: ACCOUNT_ID,
      max_amount: "1000.00",
      period: "day",
      used: "900.50",
      remaining: "99.50",
      resets_at: "2026-01-01T21:00:00.000Z",
    },
  ],
  API_KEY_NOT_FOUND: [
    { reason: "API_KEY_NOT_FOUND", keyId: "key_1" as ApiKeyId },
    Status.NOT_FOUND,
    { api_key_id: "key_1" },
  ],
  PROPOSAL_NOT_FOUND: [
    { reason: "PROPOSAL_NOT_FOUND", proposalId: PROPOSAL_ID },
    Status.NOT_FOUND,
    { proposal_id: PROPOSAL_ID },
  ],
  PROPOSAL_CLOSED: [
    { reason: "PROPOSAL_CLOSED", proposalId: PROPOSAL_ID, state: "LAPSED" },
    Status.FAILED_PRECONDITION,
    { proposal_id: PROPOSAL_ID, state: "lapsed" },
  ],
  OWN_PROPOSAL: [
    { reason: "OWN_PROPOSAL", proposalId: PROPOSAL_ID },
    Status.PERMISSION_DENIED,
    { proposal_id: PROPOSAL_ID },
  ],
  TOO_MANY_REVEALS: [
    { reason: "TOO_MANY_REVEALS", limit: 60, retryMillis: 90_500 },
    Status.RESOURCE_EXHAUSTED,
    { limit: "60" },
  ],
  TOO_MANY_PROPOSALS: [{ reason: "TOO_MANY_PROPOSALS", limit: 20 }, Status.FAILED_PRECONDITION, { limit: "20" }],
  TOO_MANY_TIERS: [{ reason: "TOO_MANY_TIERS", limit: 20 }, Status.FAILED_PRECONDITION, { limit: "20" }],
  PHONE_NUMBER_MISSING: [
    { reason: "PHONE_NUMBER_MISSING", accountId: ACCOUNT_ID },
    Status.FAILED_PRECONDITION,
    { account_id: ACCOUNT_ID },
  ],
  ACCOUNT_HAS_OPEN_TRANSACTIONS: [
    { reason: "ACCOUNT_HAS_OPEN_TRANSACTIONS", accountId: ACCOUNT_ID, openPayments: 2 },
    Status.FAILED_PRECONDITION,
    { account_id: ACCOUNT_ID, open_transactions: "2" },
  ],
  AMOUNT_NOT_PAYABLE: [
    {
      reason: "AMOUNT_NOT_PAYABLE",
      payable: { minCents: 1_000 as Cents, maxCents: 25_000_000 as Cents, stepCents: 100 as Cents },
      nearest: { belowCents: 1_000 as Cents, aboveCents: 1_100 as Cents },
    },
    Status.FAILED_PRECONDITION,
    { min: "10.00", max: "250000.00", step: "1.00", nearest_below: "10.00", nearest_above: "11.00" },
  ],
  PHONE_NUMBER_COOLING: [
    { reason: "PHONE_NUMBER_COOLING", accountId: ACCOUNT_ID, until: toUnixMillis(1_700_000_000_000) },
    Status.FAILED_PRECONDITION,
    { account_id: ACCOUNT_ID, until: "2023-11-14T22:13:20.000Z" },
  ],
  RECEIPT_REQUIRED: [{ reason: "RECEIPT_REQUIRED" }, Status.FAILED_PRECONDITION, {}],
  RECEIPT_ALREADY_USED: [
    {
      reason: "RECEIPT_ALREADY_USED",
      receipt: "RKT1" as RailReceipt,
      transactionId: TRANSACTION_ID,
      depositId: DEPOSIT_ID,
    },
    Status.ALREADY_EXISTS,
    { rail_receipt: "RKT1", transaction_id: TRANSACTION_ID, deposit_id: DEPOSIT_ID },
  ],
  RECEIPT_OF_OTHER_RAIL: [
    { reason: "RECEIPT_OF_OTHER_RAIL", rail: "mpesa" as Rail },
    Status.FAILED_PRECONDITION,
    { rail: "mpesa" },
  ],
  BOOK_ACCOUNT_TOO_LOW: [
    {
      reason: "BOOK_ACCOUNT_TOO_LOW",
      bookAccount: "shortfall",
      balanceCents: 100,
      requestedCents: 200 as Cents,
    },
    Status.FAILED_PRECONDITION,
    { book_account: "shortfall", balance: "1.00", requested: "2.00" },
  ],
  BOOK_RESTORED: [{ reason: "BOOK_RESTORED" }, Status.FAILED_PRECONDITION, {}],
  RAIL_ACCOUNT_CHANGED: [{ reason: "RAIL_ACCOUNT_CHANGED" }, Status.FAILED_PRECONDITION, {}],
  RAIL_NOT_CONFIGURED: [
    { reason: "RAIL_NOT_CONFIGURED", rail: "mpesa" as Rail },
    Status.FAILED_PRECONDITION,
    { rail: "mpesa" },
  ],
  PHONE_NUMBER_NOT_PAYABLE: [
    { reason: "PHONE_NUMBER_NOT_PAYABLE", rail: "mpesa" as Rail },
    Status.FAILED_PRECONDITION,
    { rail: "mpesa" },
  ],
  PAYMENT_NOT_FOUND: [
    { reason: "PAYMENT_NOT_FOUND", transactionId: TRANSACTION_ID },
    Status.NOT_FOUND,
    { transaction_id: TRANSACTION_ID },
  ],
  RAIL_NOT_SANDBOX: [
    { reason: "RAIL_NOT_SANDBOX", transactionId: TRANSACTION_ID, rail: "direct" as Rail },
    Status.FAILED_PRECONDITION,
    { transaction_id: TRANSACTION_ID, rail: "direct" },
  ],
  CHECKPOINT_NOT_FOUND: [{ reason: "CHECKPOINT_NOT_FOUND", size: 7 }, Status.NOT_FOUND, { size: "7" }],
  NOT_SEALED: [{ reason: "NOT_SEALED", sealedSize: 7 }, Status.FAILED_PRECONDITION, { sealed_size: "7" }],
  ORGANIZATION_SUSPENDED: [{ reason: "ORGANIZATION_SUSPENDED" }, Status.PERMISSION_DENIED, {}],
  BOOK_MOVING: [{ reason: "BOOK_MOVING" }, Status.UNAVAILABLE, {}],
  CLOCK_BEHIND: [{ reason: "CLOCK_BEHIND", behindMillis: 60_001 }, Status.UNAVAILABLE, { behind_seconds: "61" }],
  QUEUE_FULL: [{ reason: "QUEUE_FULL" }, Status.RESOURCE_EXHAUSTED, {}],
  STORAGE_UNAVAILABLE: [{ reason: "STORAGE_UNAVAILABLE" }, Status.UNAVAILABLE, {}],
  SHUTTING_DOWN: [{ reason: "SHUTTING_DOWN" }, Status.UNAVAILABLE, {}],
  MALFORMED_REQUEST: [
    { reason: "MALFORMED_REQUEST", problem: "The body has no message." },
    Status.INVALID_ARGUMENT,
    {},
  ],
  UNSUPPORTED_COMPRESSION: [{ reason: "UNSUPPORTED_COMPRESSION" }, Status.UNIMPLEMENTED, {}],
  NO_SUCH_RPC: [{ reason: "NO_SUCH_RPC" }, Status.UNIMPLEMENTED, {}],
  REQUEST_TOO_LARGE: [
    { reason: "REQUEST_TOO_LARGE", bytesMax: 262_144 },
    Status.INVALID_ARGUMENT,
    { bytes_max: "262144" },
  ],
  TOO_MANY_STREAMS: [{ reason: "TOO_MANY_STREAMS", streamsMax: 2 }, Status.RESOURCE_EXHAUSTED, { streams_max: "2" }],
  OUTCOME_UNKNOWN: [{ reason: "OUTCOME_UNKNOWN" }, Status.DEADLINE_EXCEEDED, {}],
  INTERNAL: [{ reason: "INTERNAL", requestId: "r-1" }, Status.INTERNAL, { request_id: "r-1" }],
  DEADLINE_EXCEEDED: [{ reason: "DEADLINE_EXCEEDED" }, Status.DEADLINE_EXCEEDED, {}],
};

const RETRIED: readonly Reason[] = [
  "QUEUE_FULL",
  "TOO_MANY_STREAMS",
  "TOO_MANY_WEBHOOK_TESTS",
  "WEBHOOK_ENDPOINT_BUSY",
  "STORAGE_UNAVAILABLE",
  "SHUTTING_DOWN",
  "BOOK_MOVING",
  "CLOCK_BEHIND",
];

describe("grpc: a refusal on the wire", () => {
  for (const [refusal, code, facts] of Object.values(EXAMPLES)) {
    const { reason } = refusal;
    it(`${reason} is ${Status[code]} with its facts`, () => {
      const status = statusOf(refusal);
      expect(status.code).to.equal(code);
      expectDetail(status.details);
      expectShortSentences(status.details);
      // Each fact is in the text, too. It may be written in two words, as a list.
      for (const fact of Object.values(facts))
        for (const part of fact.split(",")) expect(status.details).to.include(part);
      expect(detailsOf(status.metadata)).to.deep.equal({
        reason,
        domain: "kesc",
        facts,
        ...(reason === "INVALID_FIELD" ? { fields: [] } : {}),
        ...(reason === "RATE_LIMITED" ? { retrySeconds: 1.501 } : {}),
        ...(reason === "TOO_MANY_REVEALS" ? { retrySeconds: 90.5 } : {}),
        ...(reason === "NOT_SEALED" ? { retrySeconds: 10 } : {}),
        ...(RETRIED.includes(reason) ? { retrySeconds: 1 } : {}),
      });
    });
  }

  it("joins the fields that differ as a list", () => {
    const messageFor = (...differingFields: ("amount" | "description" | "metadata")[]): string =>
      statusOf({ reason: "REFERENCE_ALREADY_USED", transactionId: TRANSACTION_ID, differingFields }).details;
    expect(messageFor("amount")).to.include("with another amount.");
    expect(messageFor("amount", "metadata")).to.include("with another amount and metadata.");
    expect(messageFor("amount", "description", "metadata")).to.include("another amount, description and metadata.");
  });

  it("has the reasons that the contract names, and no other", () => {
    const { files } = readContract();
    const values = files.getEnum("kesc.v1.ErrorReason")?.values ?? [];
    const named = values.map(({ name }) => name.replace("ERROR_REASON_", "")).filter((name) => name !== "UNSPECIFIED");
    expect(Object.keys(EXAMPLES)).to.have.members([...named, ...REASONS_OF_OPERATORS]);
  });

  it("names its facts as the contract documents them", () => {
    const { files } = readContract();
    const file = [...files.files].find(({ proto }) => proto.name === "kesc/v1/errors.proto");
    for (const [index, value] of (file?.proto.enumType[0]?.value ?? []).entries()) {
      const location = file?.proto.sourceCodeInfo?.location.find(
        ({ path }) => path.join() === `5,0,2,${String(index)}`,
      );
      const documented = /Facts:\s+([\w,\s]+)/.exec(location?.leadingComments ?? "")?.[1];
      const reason = value.name.replace("ERROR_REASON_", "") as Reason | "UNSPECIFIED";
      if (reason === "UNSPECIFIED") continue;
      const names = documented?.split(",").filter((words) => /^\s*\w+\s*$/.test(words)) ?? [];
      expect(Object.keys(EXAMPLES[reason][2]), reason).to.have.members(names.map((name) => name.trim()));
    }
  });

  it("names every bad field, with its code", () => {
    const fields: FieldProblem[] = [
      { field: "amount", message: "must be more than zero", code: "OUT_OF_RANGE" },
      { field: "reference", message: "is required", code: "REQUIRED" },
    ];
    const status = statusOf({ reason: "INVALID_FIELD", fields });
    expect(detailsOf(status.metadata).fields).to.deep.equal(fields);
    expect(status.details).to.equal("Invalid request: amount must be more than zero; reference is required.");
  });

  it("survives half a surrogate pair, which would take the process down inside grpc-js", () => {
    const status = statusOf({
      reason: "INVALID_FIELD",
      fields: [{ field: "\ud800", message: "\udfff", code: "FORMAT" }],
    });
    expect(() => encodeURI(status.details)).not.to.throw();
  });
});
