import type { AnyRefusal } from "../../src/grpc/errors/refusal.js";
import { ANSWERS } from "../../src/grpc/errors/status.js";
import { ACCOUNT_ID, TRANSACTION_ID } from "./service/grpc-server.js";

type FieldOf<Refused> = Refused extends unknown ? Exclude<keyof Refused, "reason"> : never;

/** A value of each field, and the facts that it gives. A field without one does not compile. */
const FIELDS: Readonly<Record<FieldOf<AnyRefusal>, readonly [value: unknown, facts: Record<string, string>]>> = {
  accountId: [ACCOUNT_ID, { account_id: ACCOUNT_ID }],
  availableCents: [5, { available: "0.05" }],
  balanceCents: [100, { balance: "1.00" }],
  bankFileId: ["KB0123456789ABCDEF01234567", { bank_file_id: "KB0123456789ABCDEF01234567" }],
  before: ["basic", { before: "basic" }],
  behindMillis: [60_001, { behind_seconds: "61" }],
  bookAccount: ["shortfall", { book_account: "shortfall" }],
  bytesMax: [262_144, { bytes_max: "262144" }],
  callsPerSecond: [100, { calls_per_second: "100" }],
  cause: ["NOT_COMPLETED", { cause: "not_completed" }],
  cells: [4, { cells: "4" }],
  code: ["500.003.1001", { code: "500.003.1001" }],
  depositId: ["dep_1", { deposit_id: "dep_1" }],
  destinationId: ["dst_1", { destination_id: "dst_1" }],
  differingFields: [["phone_number", "email"], { differing_fields: "phone_number,email" }],
  endpointId: ["whe_1", { webhook_endpoint_id: "whe_1" }],
  etag: ["42", { etag: "42" }],
  fields: [[], {}],
  file: ["journal.csv", { file: "journal.csv" }],
  freezeId: ["frz_1", { freeze_id: "frz_1" }],
  from: ["FROZEN", { from: "frozen" }],
  heldCents: [0, { held: "0.00" }],
  kescVersion: ["0.1.0", { kesc_version: "0.1.0" }],
  keyId: ["key_1", { api_key_id: "key_1" }],
  kind: ["TILL", { destination_kind: "till" }],
  limit: [20, { limit: "20" }],
  limitCents: [100_000, { max_amount: "1000.00" }],
  month: ["2026-10", { month: "2026-10" }],
  movement: ["RKTQDM7W09", { movement: "RKTQDM7W09" }],
  nearest: [
    { belowCents: 1_000, aboveCents: 1_100 },
    { nearest_below: "10.00", nearest_above: "11.00" },
  ],
  sha256: ["a".repeat(64), { sha256: "a".repeat(64) }],
  now: ["gold", { now: "gold" }],
  obstacles: [["there is no seal key"], { obstacles: "there is no seal key" }],
  openPayments: [2, { open_transactions: "2" }],
  operatorId: ["opr_1", { operator_id: "opr_1" }],
  organizationId: ["org_1", { organization_id: "org_1" }],
  passkeyId: ["psk_1", { passkey_id: "psk_1" }],
  payable: [
    // At run time, the terms of a rail stand here, which say more.
    { minCents: 1_000, maxCents: 25_000_000, stepCents: 100, phoneNumbers: /^/ },
    { min: "10.00", max: "250000.00", step: "1.00" },
  ],
  payments: [3, { payments: "3" }],
  place: ["shortcode 1 at https://localhost", { place: "shortcode 1 at https://localhost" }],
  problem: ["The body has no message.", {}],
  proposalId: ["prp_1", { proposal_id: "prp_1" }],
  rail: ["mpesa", { rail: "mpesa" }],
  rate: ["lists", { rate: "lists" }],
  reached: [
    { period: "DAY", usedCents: 90_050, remainingCents: 9_950, resetsAt: Date.UTC(2026, 0, 1, 21) },
    { period: "day", used: "900.50", remaining: "99.50", resets_at: "2026-01-01T21:00:00.000Z" },
  ],
  receipt: ["RKT1", { rail_receipt: "RKT1" }],
  requestedCents: [100_000, { requested: "1000.00" }],
  requestId: ["r-1", { request_id: "r-1" }],
  resourceId: ["acc_1", { resource_id: "acc_1" }],
  retryMillis: [1_500.2, {}],
  reversedById: ["txn_other", { reversed_by_transaction_id: "txn_other" }],
  roles: [["support", "admin"], { roles: "support,admin" }],
  scope: ["accounts:read", { scope: "accounts:read" }],
  sealedSize: [7, { sealed_size: "7" }],
  sequence: [7, { sequence: "7" }],
  size: [7, { size: "7" }],
  state: ["LAPSED", { state: "lapsed" }],
  status: ["FAILED", { transaction_status: "failed" }],
  streamsMax: [2, { streams_max: "2" }],
  to: ["CLOSED", { to: "closed" }],
  transactionId: [TRANSACTION_ID, { transaction_id: TRANSACTION_ID }],
  until: [1_700_000_000_000, { until: "2023-11-14T22:13:20.000Z" }],
  what: ["tier", { what: "tier" }],
};

export const REASONS = Object.keys(ANSWERS) as AnyRefusal["reason"][];

/** Returns an example of a refusal, with the facts that are sent. */
export function exampleOf(reason: AnyRefusal["reason"]): {
  readonly refusal: AnyRefusal;
  readonly facts: Readonly<Record<string, string>>;
} {
  const fields: readonly (keyof typeof FIELDS)[] = ANSWERS[reason].fields;
  const values = Object.fromEntries(fields.map((field) => [field, FIELDS[field][0]]));
  const facts = Object.fromEntries(fields.flatMap((field) => Object.entries(FIELDS[field][1])));
  return { refusal: { reason, ...values } as AnyRefusal, facts };
}
