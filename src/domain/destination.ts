import type { AccountId, DestinationId, OrganizationId } from "./values/ids.js";
import { type MaskedPhone, maskPhone, shownPhone } from "./values/masked-phone.js";
import { type Parsed, parsed, unparsed } from "./values/parsed.js";
import type { PhoneNumber } from "./values/phone-number.js";
import type { Description } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

/**
 * - PHONE: a phone number.
 * - TILL: the number of a till, to which customers pay for goods.
 * - PAYBILL: the number of a paybill, and the account number that a payer types at it.
 */
export const DESTINATION_KINDS = ["PHONE", "TILL", "PAYBILL"] as const;
export type DestinationKind = (typeof DESTINATION_KINDS)[number];

/**
 * Maximum number of destinations of one account that are not removed. It bounds the rows that a
 * change of the account loads.
 */
export const DESTINATIONS_MAX = 20;

/** The number of a till, or that of a paybill, a space and the account number. */
export type BusinessNumber = string & { readonly brand: unique symbol };
/** The number of a kind of destination: a phone number only if the kind is PHONE. */
export type DestinationNumber = PhoneNumber | BusinessNumber;
/** A destination's number as people see it: a masked phone number only if the kind is PHONE. */
export type MaskedNumber = MaskedPhone | MaskedBusiness;
type MaskedBusiness = string & { readonly brand: unique symbol };

/** Where shillings of an account can be paid out to. It never changes, but it can be removed. */
export interface Destination {
  readonly id: DestinationId;
  readonly organizationId: OrganizationId;
  readonly accountId: AccountId;
  readonly kind: DestinationKind;
  /** The caller's words. They may be empty. */
  readonly label: Description;
  /** Undefined once the destination is removed, also by the erasure of its account. */
  readonly number: DestinationNumber | undefined;
  /** It stays. */
  readonly maskedNumber: MaskedNumber;
  /** Nothing is paid out to it before. */
  readonly usableAt: UnixMillis;
  readonly createdAt: UnixMillis;
  readonly removedAt: UnixMillis | undefined;
}

const BUSINESS_NUMBER = /^[0-9]{5,7}$/;
const ACCOUNT_NUMBER = /^[\x21-\x7e]{1,13}$/;

/** Parses the number of a till. */
export function parseTill(unchecked: string): Parsed<BusinessNumber> {
  return parseDigits(unchecked, "the 5 to 7 digits of a till number");
}

/** Parses the number of a paybill. The account number that a payer types comes with it. */
export function parsePaybill(unchecked: string): Parsed<BusinessNumber> {
  return parseDigits(unchecked, "the 5 to 7 digits of a paybill number");
}

function parseDigits(unchecked: string, what: string): Parsed<BusinessNumber> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  return BUSINESS_NUMBER.test(unchecked) ? parsed(unchecked as BusinessNumber) : unparsed(`must be ${what}`);
}

/** Parses what a payer types as account number. M-Pesa takes 13 characters from a program. */
export function parseAccountNumber(unchecked: string): Parsed<string> {
  if (unchecked === "") return unparsed("is required for a paybill", "REQUIRED");
  return ACCOUNT_NUMBER.test(unchecked)
    ? parsed(unchecked)
    : unparsed("must be 1 to 13 printable ASCII characters without spaces");
}

/** Joins the number of a paybill and the account number. */
export function paybillNumber(paybill: BusinessNumber, accountNumber: string): BusinessNumber {
  return `${paybill} ${accountNumber}` as BusinessNumber;
}

/** Splits what `paybillNumber` joined, also masked. A till has no account number. */
export function partsOf(number: BusinessNumber | MaskedNumber): { business: string; accountNumber?: string } {
  const [business = "", accountNumber] = number.split(" ");
  return accountNumber === undefined ? { business } : { business, accountNumber };
}

const SHOWN_LAST = 3;
/** A text that is shorter has no digits to hide behind. */
const SHOWN_FROM = 6;

/** Hides most of a number. That of a paybill is public: the account number tells whose it is. */
export function maskNumber(kind: DestinationKind, number: DestinationNumber): MaskedNumber {
  if (kind === "PHONE") return maskPhone(number as PhoneNumber);
  const { business, accountNumber } = partsOf(number as BusinessNumber);
  return (accountNumber === undefined ? masked(business) : `${business} ${masked(accountNumber)}`) as MaskedBusiness;
}

function masked(text: string): string {
  const shown = text.length < SHOWN_FROM ? "" : text.slice(-SHOWN_LAST);
  return "*".repeat(text.length - shown.length) + shown;
}

/** Returns the masked number as callers see it. */
export function shownNumber(kind: DestinationKind, maskedNumber: MaskedNumber): string {
  return kind === "PHONE" ? shownPhone(maskedNumber as MaskedPhone) : maskedNumber;
}
