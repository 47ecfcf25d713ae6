// The only npm package that the domain imports. Which numbers are valid in which country is data
// that the package maintains (docs/adr/0003).
import { parsePhoneNumberFromString } from "libphonenumber-js/max";

import { type Parsed, parsed, unparsed } from "./parsed.js";

/** A valid phone number in E.164, such as "+254712345678". */
export type PhoneNumber = string & { readonly brand: unique symbol };

// Digits with the usual separators. The pattern excludes letters, extensions and Unicode digits.
const DIALLED = /^\+?[0-9][0-9 ().-]{3,23}[0-9]$/;

/**
 * Parses a Kenyan number with or without its country code ("0712345678", "712345678",
 * "254712345678"), or any valid international number with its plus. Returns the number in E.164.
 */
export function parsePhoneNumber(unchecked: string): Parsed<PhoneNumber> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  const number = DIALLED.test(unchecked)
    ? parsePhoneNumberFromString(unchecked, { defaultCountry: "KE", extract: false })
    : undefined;
  return number?.isValid() === true
    ? parsed(number.number as PhoneNumber)
    : unparsed("must be a valid phone number, Kenyan such as 0712345678 or international such as +254712345678");
}
