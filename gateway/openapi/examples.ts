import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";

import { enumName } from "../../contract/json/read-scalar.js";
import { RPC_STATUS } from "../../contract/json-support.js";
import { ID, leafOf, TIME } from "./example-leaf.js";

// test/openapi/examples.test.ts sends each request to a gateway, and compares all with schemas.

const LATER = "2026-11-20T10:12:41.900Z";
const SECRET = "whsec_bm90IGEgcmVhbCBzZWNyZXQsIG9ubHkgYW4gZXhhbXBsZQ==";
/** Gives several fields one value. */
function each(value: JsonValue, ...names: readonly string[]): Readonly<Record<string, JsonValue>> {
  return Object.fromEntries(names.map((name) => [name, value]));
}

/** What the row of a mint leaves empty. */
const STATED = ["stated_amount", "place", "as_of_day", "evidence", "direction", "movement", "detail", "corrects_month"];
const HASH = "rM3oXz6Yc1qvQmWm0sF5kTn2u8bJp4hVxE9dLw7gKaU=";

/** Values by the name of a field, or by message and field where the name has several meanings. */
const VALUES: Readonly<Record<string, JsonValue>> = {
  id: `txn_${ID}`,
  "Account.id": `acc_${ID}`,
  "Freeze.id": `frz_${ID}`,
  "Deposit.id": `dep_${ID}`,
  "Destination.id": `dst_${ID}`,
  "Event.id": "evt_01hx3k7v2q_42_9f86d081",
  "WebhookEndpoint.id": `whe_${ID}`,
  "Organization.id": `org_${ID}`,
  "Organization.name": "Acme",
  "ApiKey.id": `key_${ID}`,
  "ApiKey.name": "till",
  "Rail.name": "direct",
  "StatementColumns.date": "Transaction Date",
  "StatementColumns.amount": "",
  "StatementColumns.debit": "Debit",
  "StatementColumns.credit": "Credit",
  "StatementColumns.balance": "Running Balance",
  "StatementColumns.reference": "",
  "StatementColumns.text": "Description",
  "StatementForm.source": "kcb-1234",
  "StatementForm.account": "",
  "StatementForm.reference_pattern": "FT[0-9A-Z]+",
  "AccountSnapshot.id": `acc_${ID}`,
  "AccountSnapshot.deposit_reference": null,
  account_id: `acc_${ID}`,
  transaction_id: `txn_${ID}`,
  freeze_id: `frz_${ID}`,
  deposit_id: `dep_${ID}`,
  destination_id: `dst_${ID}`,
  "Destination.kind": "till",
  label: "rent",
  masked_number: "****321",
  rail_name: "NAIVAS LIMITED",
  rail_name_differs: true,
  usable_at: LATER,
  removed_at: null,
  "Transaction.deposit_id": null,
  "Transaction.destination_id": null,
  deposit_reference: "70038951",
  business_number: "174379",
  webhook_endpoint_id: `whe_${ID}`,
  corrects_transaction_id: null,
  reversed_by_transaction_id: null,
  user_id: "wanjiku",
  phone_number: "+254712345678",
  payer_phone_number: "0712345678",
  tier: "default",
  counted_since: TIME,
  sandbox: false,
  suspended: false,
  receipts_required: false,
  default_rail: "direct",
  scopes: ["accounts:read", "transactions:write"],
  expires_at: null,
  min: 0.01,
  max: 9_999_999_999_999.99,
  step: 0.01,
  payouts_closed: false,
  "Limit.type": "mint",
  period: "day",
  max_amount: 1000,
  used: 250,
  remaining: 750,
  resets_at: "2026-11-20T21:00:00Z",
  email: "wanjiku@example.co.ke",
  currency: "KESC",
  etag: "42",
  "RailBalance.currency": "KES",
  amount: 1000,
  available_balance: 1000,
  available_balance_after: 1000,
  held_balance: 0,
  reference: "deposit-1",
  description: "November",
  "WebhookEndpoint.description": "payroll",
  metadata: { order_id: "17" },
  rail: "direct",
  "Payment.rail": "mpesa",
  "Deposit.rail": "mpesa",
  "Deposit.rail_receipt": "RKTQDM7W6S",
  "Deposit.status": "credited",
  "Deposit.reason": null,
  "Deposit.same_number": null,
  "DepositInstruction.rail": "mpesa",
  masked_payer_phone_number: "+254******678",
  typed_reference: "7003 8951",
  paid_at: TIME,
  "RailBalance.rail": "mpesa",
  rail_receipt: null,
  status_note: null,
  "Freeze.note": "order 12",
  failure: null,
  receipt: null,
  correction: null,
  as_of_sequence: null,
  "Supply.as_of_sequence": 42,
  freezes: [],
  reason: "order 12",
  "Freeze.reason": "court_order",
  "TransactionFailure.reason": "expired",
  lift_note: null,
  lifted_by: null,
  lifted_at: null,
  created_by: `key_${ID}`,
  actor: `key_${ID}`,
  created_at: TIME,
  completed_at: TIME,
  updated_at: TIME,
  next_page_token: null,
  sequence: 42,
  next_sequence: 42,
  latest_sequence: 42,
  "Transaction.status": "completed",
  "ResolveTransactionResponse.state": "done",
  "ResolveTransactionResponse.correction": null,
  types: ["transaction.completed"],
  masked_phone_number: "+254******678",
  rail_reference: "ws_CO_20112026093600123712345678",
  started_at: TIME,
  next_check_at: LATER,
  send_count: 1,
  check_count: 2,
  last_code: "0",
  open_flags: [],
  messages: [],
  start: "2026-10-31T21:00:00.000Z",
  end: "2026-11-30T21:00:00.000Z",
  closing_balance: 1000,
  balance: 1000,
  amount_in: 1000,
  amount_out: null,
  ...each("transaction.completed", "Event.type", "StatementLine.type", "JournalLine.type", "GeneralLedgerLine.type"),
  ...each("mint", "StatementLine.kind", "JournalLine.kind", "GeneralLedgerLine.kind"),
  ...each(null, "Event.row", "JournalLine.source", "GeneralLedgerLine.source"),
  ...each(null, ...STATED.map((name) => `JournalLine.${name}`)),
  debit_account: "reserve",
  credit_account: "available",
  book_account: "reserve",
  debit: 1000,
  credit: null,
  date: "2026-11-20",
  in_circulation: 1000,
  available: 1000,
  ...each(0, "opening_balance", "held", "shortfall", "unallocated"),
  reserve: 1000,
  charges: 108.5,
  owed: 1000,
  minted: null,
  redeemed: null,
  as_of_time: TIME,
  count: 1,
  oldest_created_at: TIME,
  has_more_open_payments: false,
  seen: 1000,
  difference: 0,
  place: "KCB 1234",
  as_of_day: "2026-11-20",
  evidence: "statement 117",
  recorded_at: LATER,
  reported_at: LATER,
  age_seconds: 60,
  share_min: 30,
  share_max: 70,
  days_max: 91,
  stale_after_days: 7,
  name: "payouts",
  size: 42,
  root_hash: HASH,
  hashes: [HASH],
  signed_note: `kesc\n42\n${HASH}\n\n— kesc Az3grl…\n`,
  verifier_keys: ["kesc+033de0ae+ASdXp0…"],
  sealed_at: LATER,
  alarm_raised_at: null,
  leaf_index: 41,
  ...leafOf(42),
  url: "https://example.co.ke/kesc",
  secret: SECRET,
  disabled_reason: null,
  delivered_through_sequence: 41,
  end_sequence: 43,
  failing_since: null,
  replay: null,
  previous_valid_until: LATER,
  event_id: "evt_01hx3k7v2q_42_9f86d081",
  event_type: "transaction.completed",
  attempt: 1,
  attempt_count: 1,
  succeeded: true,
  http_status: 200,
  problem: null,
  attempted_at: TIME,
  duration_millis: 87,
  next_attempt_at: LATER,
  last_attempted_at: TIME,
  last_http_status: 503,
  last_problem: "it responded with 503",
  needs_attention: false,
  replayed: false,
  "TransactionFailure.message": "The payer did not confirm in time.",
  "RailMessage.purpose": "collect",
  "RailMessage.body": "{}",
  received_at: TIME,
};

const WHOLE_REQUESTS: Readonly<Record<string, JsonObject>> = {
  CreateAccountRequest: { user_id: "wanjiku", phone_number: "0712345678", email: "wanjiku@example.co.ke" },
  UpdateAccountRequest: { phone_number: "0733111222" },
  FreezeAccountRequest: { reason: "court_order", note: "order 12" },
  UnfreezeAccountRequest: { freeze_id: `frz_${ID}`, note: "lifted by the court" },
  CreateDestinationRequest: { kind: "till", number: "5432321", label: "rent" },
  CloseAccountRequest: { note: "asked for by the user" },
  MintRequest: {
    account_id: `acc_${ID}`,
    amount: "1000.00",
    reference: "deposit-1",
    description: "November",
    metadata: { order_id: "17" },
    rail: "direct",
  },
  CreateDepositRequest: { amount: "250.00", typed_reference: "48210935", receipt: "SKQ7XH2M4P" },
  RedeemRequest: { account_id: `acc_${ID}`, amount: "250.00", reference: "payout-1", rail: "direct" },
  BatchCreateTransactionsRequest: {
    requests: [
      { mint: { account_id: `acc_${ID}`, amount: "1000.00", reference: "salary-2026-11-wanjiku" } },
      { redeem: { account_id: `acc_${ID}`, amount: "250.00", reference: "payout-2026-11-wanjiku" } },
    ],
  },
  ReverseTransactionRequest: { description: "typed one zero too many" },
  CancelTransactionRequest: { note: "the order was canceled" },
  ResolveTransactionRequest: { completed: { rail_receipt: "RKTQDM7W6S" }, note: "on the statement of 22 November" },
  ClearFlagRequest: { flag: "report_differs", note: "compared with the statement" },
  CreateWebhookEndpointRequest: { url: "https://example.co.ke/kesc", types: ["*"], description: "payroll" },
  UpdateWebhookEndpointRequest: { status: "paused" },
  ResendWebhookDeliveryRequest: { sequence: 42 },
  ReplayWebhookEventsRequest: { start_sequence: 1, end_sequence: 43 },
};

/** Parameters of a query that an example needs, or that make it plain. */
const PARAMETERS: Readonly<Record<string, JsonValue>> = {
  start: "2026-11-01",
  end: "2026-11-20",
  old_size: 1,
  "GetInclusionProofRequest.transaction_id": VALUES["transaction_id"] ?? "",
  token: "AAAA",
};

/** Returns the example of the body of a request; undefined for an empty body. */
export function requestExample({ name }: DescMessage): JsonObject | undefined {
  return WHOLE_REQUESTS[name];
}

/** Returns the example of a parameter of a path, or of one in a query that the example needs. */
export function parameterExample({ name, parent }: DescField, place: "path" | "query"): JsonValue | undefined {
  return PARAMETERS[`${parent.name}.${name}`] ?? PARAMETERS[name] ?? (place === "path" ? VALUES[name] : undefined);
}

function valueNamed({ name, parent }: DescField): JsonValue | undefined {
  return VALUES[`${parent.name}.${name}` in VALUES ? `${parent.name}.${name}` : name];
}

/** Returns the example of all fields with the name, if the table has one. */
export function exampleNamed(name: string): JsonValue | undefined {
  return VALUES[name];
}

/** Returns the example of one field, if the table has one. */
export function fieldExample(field: DescField, direction: "request" | "response"): JsonValue | undefined {
  if (direction === "request") return WHOLE_REQUESTS[field.parent.name]?.[field.name];
  return valueNamed(field);
}

/** Makes the example of a whole message in a response. */
export function responseExample(desc: DescMessage, itemProblem: JsonObject): JsonObject {
  const chosen = new Set<unknown>();
  return Object.fromEntries(
    desc.fields.map((field) => {
      if (field.oneof !== undefined) {
        // The first member of a oneof is set.
        if (chosen.has(field.oneof)) return [field.name, null];
        chosen.add(field.oneof);
      }
      return [field.name, valueOf(field, itemProblem)];
    }),
  );
}

function valueOf(field: DescField, itemProblem: JsonObject): JsonValue {
  const known = fieldExample(field, "response");
  if (known !== undefined) return known;
  const one = oneOf(field, itemProblem);
  return field.fieldKind === "list" ? [one] : one;
}

/** A message whose fields are examples, or the first value of an enum. */
function oneOf({ message, enum: desc }: DescField, itemProblem: JsonObject): JsonValue {
  if (message?.typeName === RPC_STATUS) return itemProblem;
  if (message !== undefined) return responseExample(message, itemProblem);
  const first = desc?.values.find(({ number }) => number !== 0);
  return desc === undefined || first === undefined ? "" : enumName(desc, first.name);
}
