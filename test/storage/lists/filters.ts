import { ACCOUNT_STATUSES } from "../../../src/domain/account.js";
import { DEFAULT_TIER } from "../../../src/domain/limits/limits.js";
import type { RailReceipt } from "../../../src/domain/payment.js";
import { DIRECT_RAIL } from "../../../src/domain/transaction.js";
import { parseAmount } from "../../../src/domain/values/cents.js";
import type { EmailAddress } from "../../../src/domain/values/email-address.js";
import type { PhoneNumber } from "../../../src/domain/values/phone-number.js";
import { parseMetadata, type Reference, type UserId } from "../../../src/domain/values/text.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { AccountFilters, DepositFilters, TransactionFilters } from "../../../src/ledger/ports/reads.js";
import { depositReference, newAccountId, valid } from "../../support/names.js";

const userId = "user" as UserId;
const phoneNumber = "+254712345678" as PhoneNumber;
const email = "a@example.com" as EmailAddress;
const reference = "reference" as Reference;
const receipt = "SKQ7XH2M4P" as RailReceipt;
const accountId = newAccountId();
const createdAfter = toUnixMillis(0);
const createdBefore = toUnixMillis(2);
const minAmountCents = valid(parseAmount("1.00"));
const maxAmountCents = valid(parseAmount("2.00"));
const metadata = valid(
  parseMetadata(
    new Map([
      ["order_id", "17"],
      ["shop", "2"],
    ]),
  ),
);
const open = ["PENDING", "PROCESSING"] as const;

/** Filters of ListAccounts, so that each choice of an index occurs. */
export const ACCOUNT_FILTERS: readonly AccountFilters[] = [
  {},
  { userId },
  { phoneNumber },
  { email },
  { status: [ACCOUNT_STATUSES[0]] },
  { status: [ACCOUNT_STATUSES[1], ACCOUNT_STATUSES[2]] },
  { status: [ACCOUNT_STATUSES[0], ACCOUNT_STATUSES[2]], createdAfter, createdBefore },
  { createdAfter, createdBefore },
  { phoneNumber, status: [ACCOUNT_STATUSES[1]] },
  { email, status: [ACCOUNT_STATUSES[1], ACCOUNT_STATUSES[2]], createdBefore },
  { userId, phoneNumber, email, status: [ACCOUNT_STATUSES[2]], createdAfter },
  { tier: DEFAULT_TIER },
  { tier: DEFAULT_TIER, status: [ACCOUNT_STATUSES[1], ACCOUNT_STATUSES[2]], createdAfter },
  { tier: DEFAULT_TIER, phoneNumber },
  { accountIds: [accountId, newAccountId()] },
  {
    accountIds: [accountId],
    userId,
    status: [ACCOUNT_STATUSES[2]],
    depositReference: depositReference(0),
    createdAfter,
  },
  { depositReference: depositReference(0) },
  { depositReference: depositReference(0), userId, status: [ACCOUNT_STATUSES[2]], createdAfter },
];

/** Filters of ListDeposits, so that each choice of an index occurs. */
export const DEPOSIT_FILTERS: readonly DepositFilters[] = [
  {},
  { accountId },
  { accountId, status: ["REVERSED"], createdAfter },
  { receipt },
  { receipt, accountId, status: ["CREDITED"], createdBefore },
  { status: ["UNALLOCATED"] },
  { status: ["UNALLOCATED"], createdAfter, createdBefore },
  { status: ["UNALLOCATED", "CREDITED"] },
  { status: ["RETURNED"], createdAfter },
  { reason: ["NO_REFERENCE", "BY_HAND"] },
  { reason: ["UNASSIGNED"], status: ["UNALLOCATED"], createdBefore },
  { minAmountCents, maxAmountCents },
  { minAmountCents, maxAmountCents, accountId },
  { maxAmountCents, status: ["UNALLOCATED", "RETURNING"] },
  { minAmountCents, receipt },
  { createdAfter, createdBefore },
];

/** Filters of ListTransactions, so that each choice of an index occurs. */
export const TRANSACTION_FILTERS: readonly TransactionFilters[] = [
  {},
  { accountId },
  { reference },
  { receipt },
  { receipt, accountId, status: open },
  { type: "MINT" },
  { status: ["PENDING"] },
  { rail: DIRECT_RAIL },
  { correction: "LATE", createdAfter },
  { rail: DIRECT_RAIL, correction: "REVERSAL", accountId },
  { status: open },
  { status: ["PENDING", "PROCESSING", "FAILED", "CANCELED"], createdAfter },
  { status: ["COMPLETED", "FAILED"] },
  { createdAfter },
  { createdAfter, createdBefore },
  { minAmountCents },
  { minAmountCents, maxAmountCents, type: "REDEEM" },
  { needsAttention: true },
  { needsAttention: true, status: open, createdAfter },
  { needsAttention: false, type: "MINT" },
  { needsAttention: true, accountId, metadata },
  { needsAttention: true, reference },
  { metadata },
  { metadata, type: "MINT" },
  { metadata, status: open, maxAmountCents },
  { type: "REDEEM", status: ["COMPLETED"] },
  { type: "MINT", status: ["FAILED"], createdAfter },
  { accountId, type: "REDEEM", status: ["COMPLETED"], createdAfter },
  { accountId, status: open, metadata, minAmountCents, maxAmountCents, createdBefore },
  { accountId, reference },
  { reference, status: open, metadata, minAmountCents, createdAfter },
];

/** The names of the filters, for the name of a test. */
export function namesOf(filters: AccountFilters | TransactionFilters | DepositFilters): string {
  return (
    Object.entries(filters)
      .map(([name, value]) => (Array.isArray(value) ? `${name} (${String(value.length)})` : name))
      .join(", ") || "nothing"
  );
}
