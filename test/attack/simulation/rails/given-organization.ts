import type { RailAccountId, RailTerms } from "../../../../src/domain/payment.js";
import { BANK_RAIL, type Rail } from "../../../../src/domain/transaction.js";
import { MAX_CENTS, toCents } from "../../../../src/domain/values/cents.js";
import type { AccountId, DestinationId, OrganizationId } from "../../../../src/domain/values/ids.js";
import { RAIL_TERMS } from "../../../support/names.js";

// What each organization of a run has, by its id.

export const FUNDS_CENTS = 1_000_000;

const ANY_AMOUNT = { minCents: toCents(1), maxCents: MAX_CENTS, stepCents: toCents(1) };

export function accountOf(organizationId: OrganizationId): AccountId {
  return `account of ${organizationId}` as AccountId;
}

export function tillOf(organizationId: OrganizationId): DestinationId {
  return `till of ${organizationId}` as DestinationId;
}

/** An account at a bank. */
export function payeeOf(organizationId: OrganizationId): DestinationId {
  return `payee of ${organizationId}` as DestinationId;
}

export function railAccountOf(organizationId: OrganizationId): RailAccountId {
  return `rail account of ${organizationId}` as RailAccountId;
}

/** The account at a bank from which the organization pays. */
export function bankAccountOf(organizationId: OrganizationId): RailAccountId {
  return `bank account of ${organizationId}` as RailAccountId;
}

export function isBankAccount(id: RailAccountId): boolean {
  return id.startsWith("bank account");
}

export function termsOf(organizationId: OrganizationId, rail: Rail): RailTerms {
  return rail === BANK_RAIL
    ? { ...RAIL_TERMS, railAccountId: bankAccountOf(organizationId), destinations: { BANK: ANY_AMOUNT } }
    : { ...RAIL_TERMS, railAccountId: railAccountOf(organizationId), destinations: { TILL: ANY_AMOUNT } };
}
