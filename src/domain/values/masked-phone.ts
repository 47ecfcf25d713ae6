import { CONFUSABLES } from "./confusables.js";
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
// A number of Kenya, also in groups of digits.
const KENYAN = String.raw`(?<![0-9])\+?(?:254|0)[ -]?[17](?:[ -]?[0-9]){8}(?![0-9])`;
// Inside a text of a rail: such a number, and any other word of 9 digits or more. Long digits are
// parts of ids, too, such as ws_CO_191220191020363925.
const IN_TEXT = new RegExp(String.raw`${KENYAN}|(?<![\p{L}\p{N}_])\+?[0-9]{9,}(?![\p{L}\p{N}_])`, "gu");

// A letter or a sign that a reader may take for a digit. The two sets below have no character in
// common, so a match takes linear time.
const LOOKALIKES = [...CONFUSABLES].flatMap(([sign, target]) => (/^[0-9OoIil]$/.test(target) ? [sign] : []));
const DIGIT = `[\\p{N}OoIil${LOOKALIKES.join("")}]`;
const BETWEEN = `[^\\p{L}\\p{N}${LOOKALIKES.join("")}]`;
const DIGITS_IN_WORDS = new RegExp(`${DIGIT}(?:${BETWEEN}*${DIGIT}){8,}`, "gu");
// Apart, so that the words beside it stay.
const KENYAN_IN_WORDS = new RegExp(`(${KENYAN})`, "u");
const HIDDEN = "***";

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

/**
 * Masks the phone numbers in a text of a rail, whose ids stay. Digits that are too many for one
 * become three stars.
 */
export function maskPhonesIn(text: string): string {
  return text.replaceAll(IN_TEXT, (phone) => readMaskedPhone(phone.replaceAll(/[ -]/g, "")) ?? HIDDEN);
}

// The name in an address. Signs that look like an @ count, too.
const NAME_OF_ADDRESS = /([^\s@\uFF20\uFE6B])[^\s@\uFF20\uFE6B]*(?=[@\uFF20\uFE6B])/gu;

/** Masks phone numbers as `maskPhonesIn`, and the name in each e-mail address. All else stays. */
export function maskPersonsIn(text: string): string {
  return maskPhonesIn(text.replaceAll(NAME_OF_ADDRESS, `$1${HIDDEN}`));
}

/**
 * Masks the phone numbers and the e-mail address in the words of a person, who may spell a number
 * in any way: digits of any script, or letters that look like some, with anything between them.
 */
export function maskWords(words: string): string {
  const [, first = "", rest] = /^(.?).*([@\uFF20\uFE6B].*)$/su.exec(words) ?? [];
  const withoutAddress = rest === undefined ? words : `${first}${HIDDEN}${rest}`;
  // The parts at odd places are the numbers.
  const parts = withoutAddress.split(KENYAN_IN_WORDS);
  return parts
    .map((part, index) => (index % 2 === 1 ? maskSpelt(part) : part.replaceAll(DIGITS_IN_WORDS, maskSpelt)))
    .join("");
}

function maskSpelt(number: string): string {
  return readMaskedPhone(number.replaceAll(/[^\p{L}\p{N}|]/gu, "")) ?? HIDDEN;
}

function masked(digits: string): MaskedPhone {
  const shown = Math.max(0, digits.length - STARS_MIN);
  const last = Math.min(SHOWN_AT_EACH_END, shown);
  const first = Math.min(SHOWN_AT_EACH_END, shown - last);
  const stars = "*".repeat(digits.length - first - last);
  return `${digits.slice(0, first)}${stars}${digits.slice(digits.length - last)}` as MaskedPhone;
}
