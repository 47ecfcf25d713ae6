import type { PhoneNumber } from "./phone-number.js";

/**
 * A phone number whose middle digits are stars, without a plus, such as "254708***149". Evidence
 * and reports of a rail hold phone numbers only in this form.
 */
export type MaskedPhone = string & { readonly brand: unique symbol };

const SHOWN_FIRST = 6;
const SHOWN_LAST = 3;
const STARS_MIN = 3;
const KENYA = "254";
// The start of a Kenyan number without its country code: "0708374149" or "708374149".
const LOCAL = /^0|^(?=[17][0-9*]{8}$)/;

// 9 to 15 digits, some of them possibly stars already. A rail may also send a hash: no match.
const SENT_BY_A_RAIL = /^\+?([0-9*]{9,15})$/;
// M-Pesa also writes blanks around the stars: "2547 ***** 126".
const SPACED_STARS = /(?<=[0-9]) (\*+) (?=[0-9])/;

export function maskPhone(phone: PhoneNumber): MaskedPhone {
  return masked(phone.slice(1));
}

/**
 * Returns the number as callers see it: a plus, the country code of Kenya or the first digit of any
 * other number, and the last three digits. "+254******149"
 */
export function shownPhone(maskedPhone: MaskedPhone): string {
  const shownFirst = maskedPhone.startsWith(KENYA) ? KENYA : maskedPhone.slice(0, 1);
  const stars = "*".repeat(maskedPhone.length - shownFirst.length - SHOWN_LAST);
  return `+${shownFirst}${stars}${maskedPhone.slice(-SHOWN_LAST)}`;
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

function masked(digits: string): MaskedPhone {
  const shownFirst = Math.min(SHOWN_FIRST, Math.max(0, digits.length - SHOWN_LAST - STARS_MIN));
  const stars = "*".repeat(digits.length - shownFirst - SHOWN_LAST);
  return `${digits.slice(0, shownFirst)}${stars}${digits.slice(-SHOWN_LAST)}` as MaskedPhone;
}
