import { type Parsed, parsed, unparsed } from "./parsed.js";

/** An e-mail address with its domain in lower case. */
export type EmailAddress = string & { readonly brand: unique symbol };

export const NO_EMAIL = "" as EmailAddress;

const CHARACTERS_MAX = 254; // RFC 5321's path limit, less its angle brackets
const LOCAL_PART_CHARACTERS_MAX = 64;

// The pattern of HTML's <input type=email>, but the domain must contain a dot.
const ADDRESS =
  /^([a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+)@((?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)$/;

/**
 * Parses an e-mail address of at most 254 characters. The empty text means that there is no
 * address.
 */
export function parseEmailAddress(unchecked: string): Parsed<EmailAddress> {
  if (unchecked === "") return parsed(NO_EMAIL);
  if (unchecked.length > CHARACTERS_MAX) {
    return unparsed(`must have at most ${String(CHARACTERS_MAX)} characters`, "TOO_LONG");
  }
  const match = ADDRESS.exec(unchecked);
  const [, localPart = "", domain = ""] = match ?? [];
  return match !== null && localPart.length <= LOCAL_PART_CHARACTERS_MAX
    ? parsed(`${localPart}@${domain.toLowerCase()}` as EmailAddress)
    : unparsed("must be an e-mail address such as wanjiku@example.co.ke");
}
