// The only npm package that the domain imports. Which numbers are valid in which country is data
// that the package maintains (docs/dependencies.md).
import { parsePhoneNumberFromString } from "libphonenumber-js/max";

import { type Parsed, parsed, unparsed } from "./parsed.js";

/** A phone number in E.164, such as "+254712345678". Perhaps no operator has given it out. */
export type PhoneNumber = string & { readonly brand: unique symbol };

// Digits with the usual separators. The pattern excludes letters, extensions and Unicode digits.
const DIALLED = /^\+?[0-9][0-9 ().-]{3,23}[0-9]$/;

// Before no other country code: 00712345678 is rather a slip than a number of Russia.
const KENYA_FROM_ABROAD = /^00(?=[ ().-]*254)/;

// With a plus. "(0)" is left to the package, which knows where it is to be dropped.
const INTERNATIONAL = /^\+(?!.*\(0\))[1-9]/;
const E164 = /^\+[1-9][0-9]{6,14}$/;

/**
 * Parses a Kenyan number with or without its country code ("0712345678", "712345678",
 * "254712345678", "00254712345678"), or any international number with its plus. Returns the number
 * in E.164.
 *
 * A Kenyan number in short must be one that exists, so that a slip is noticed. With a plus it need
 * not: the data of the package is older than the newest numbers. A rail refuses what it cannot pay.
 */
export function parsePhoneNumber(unchecked: string): Parsed<PhoneNumber> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  const number = DIALLED.test(unchecked)
    ? parsePhoneNumberFromString(unchecked.replace(KENYA_FROM_ABROAD, ""), { defaultCountry: "KE", extract: false })
    : undefined;
  if (number?.isValid() === true) return parsed(number.number as PhoneNumber);
  const digits = DIALLED.test(unchecked) && INTERNATIONAL.test(unchecked) ? unchecked.replaceAll(/[ ().-]/g, "") : "";
  return E164.test(digits)
    ? parsed(digits as PhoneNumber)
    : unparsed("must be a valid phone number, Kenyan such as 0712345678 or international such as +254712345678");
}
