import { typeid } from "typeid-js";

import type { RailAccountId, RailMovement, RailReceipt, RailTerms } from "../../src/domain/payment.js";
import type { Rail } from "../../src/domain/transaction.js";
import type { Actor } from "../../src/domain/values/actor.js";
import { MAX_CENTS, toCents } from "../../src/domain/values/cents.js";
import { type DepositReference, depositReferenceOf } from "../../src/domain/values/deposit-reference.js";
import type {
  AccountId,
  DepositId,
  DestinationId,
  FreezeId,
  OrganizationId,
  ProposalId,
  TransactionId,
} from "../../src/domain/values/ids.js";
import type { Parsed } from "../../src/domain/values/parsed.js";
import { toUnixMillis } from "../../src/domain/values/time.js";

// Ids, names and times of the tests.

export const newId = (prefix: string): string => typeid(prefix).toString();
export const newAccountId = (): AccountId => newId("acc") as AccountId;
export const newTransactionId = (): TransactionId => newId("txn") as TransactionId;
export const newDepositId = (): DepositId => newId("dep") as DepositId;
export const newFreezeId = (): FreezeId => newId("frz") as FreezeId;
export const newDestinationId = (): DestinationId => newId("dst") as DestinationId;
export const newOrganizationId = (): OrganizationId => newId("org") as OrganizationId;
export const newProposalId = (): ProposalId => newId("prp") as ProposalId;

export const TEST_ACTOR = "key_of_a_test" as Actor;
/**
 * A rail on which no transaction completes by itself: mints stay PENDING, redemptions stay held.
 * Each receipt without a source is one of it.
 */
export const SLOW_RAIL = "mpesa" as Rail;
/** The terms of that rail: any amount, to any phone number. */
export const RAIL_TERMS: RailTerms = {
  railAccountId: "rail account" as RailAccountId,
  payable: { minCents: toCents(1), maxCents: MAX_CENTS, stepCents: toCents(1) },
  phoneNumbers: /^\+/,
  payerPhoneNumber: undefined,
  phoneCoolingMillis: 0,
};
export const NO_DEADLINE = toUnixMillis(Number.MAX_SAFE_INTEGER);

export const EARLIER = toUnixMillis(1_700_000_000_000);
export const NOW = toUnixMillis(1_700_000_060_000);
export const ORGANIZATION = newOrganizationId();
export const STRANGER = newOrganizationId();

export const movementNamed = (name: string): RailMovement => name as RailMovement;
export const receiptNamed = (name: string): RailReceipt => name as RailReceipt;

/** The deposit reference of an account, by a number: 0, 1, 2 … */
export const depositReference = (number: number): DepositReference => depositReferenceOf(2_000_000 + number);

/** The parsed value. Throws where the test's own input is wrong. */
export function valid<T>(outcome: Parsed<T>): T {
  if (!outcome.ok) throw new Error(`the test's own value ${outcome.problem}`);
  return outcome.value;
}
