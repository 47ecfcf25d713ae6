import type { PhoneNumber } from "./phone-number.js";

/**
 * A phone number that shows its first and its last three digits, without a plus, such as
 * "254******149". Evidence and reports of a rail hold phone numbers only in this form.
 */
export type MaskedPhone = string & { readonly brand: unique symbol };

const SHOWN_AT_EACH_END = 3;
// With fewer stars somebody could try all numbers that fit.
const STARS_MIN = 6;
const KENYA = "254";
// The start of a Kenyan number without its country code: "0708374149" or "708374149".
const LOCAL = /^0|^(?=[17][0-9*]{8}$)/;

// 9 to 15 digits, some of them possibly stars already. A rail may also send a hash: no match.
const SENT_BY_A_RAIL = /^\+?([0-9*]{9,15})$/;
// M-Pesa also writes blanks around the stars: "2547 ***** 126".
const SPACED_STARS = /(?<=[0-9]) (\*+) (?=[0-9])/;
// Inside a text: a number of Kenya, also in groups of digits, and any other word of 9 digits or
// more. Long digits are parts of ids, too, such as ws_CO_191220191020363925.
const IN_TEXT =
  /(?<![0-9])\+?(?:254|0)[ -]?[17](?:[ -]?[0-9]){8}(?![0-9])|(?<![\p{L}\p{N}_])\+?[0-9]{9,}(?![\p{L}\p{N}_])/gu;

export function maskPhone(phone: PhoneNumber): MaskedPhone {
  return masked(phone.slice(1));
}

/** Returns the number as callers see it: "+254******149". */
export function shownPhone(maskedPhone: MaskedPhone): string {
  return `+${masked(maskedPhone)}`;
}

/**
 * Reads a phone number that a rail sent, masked or not, in local or international form. Returns
 * undefined for any other text.
 */
export function readMaskedPhone(unchecked: string): MaskedPhone | undefined {
  const [, digits] = SENT_BY_A_RAIL.exec(unchecked.replace(SPACED_STARS, "$1")) ?? [];
  return digits === undefined ? undefined : masked(digits.replace(LOCAL, KENYA));
}

/** Returns whether the masked number can be this number: each digit that is shown agrees. */
export function canBePhone(maskedPhone: MaskedPhone, phone: PhoneNumber): boolean {
  const digits = phone.slice(1);
  return (
    maskedPhone.length === digits.length &&
    Array.from(maskedPhone).every((character, index) => character === "*" || character === digits[index])
  );
}

/** Masks the phone numbers in a text. Digits that are too many for one become three stars. */
export function maskPhonesIn(text: string): string {
  return text.replaceAll(IN_TEXT, (phone) => readMaskedPhone(phone.replaceAll(/[ -]/g, "")) ?? "***");
}

function masked(digits: string): MaskedPhone {
  const shown = Math.max(0, digits.length - STARS_MIN);
  const last = Math.min(SHOWN_AT_EACH_END, shown);
  const first = Math.min(SHOWN_AT_EACH_END, shown - last);
  const stars = "*".repeat(digits.length - first - last);
  return `${digits.slice(0, first)}${stars}${digits.slice(digits.length - last)}` as MaskedPhone;
}
