import { readMaskedPhone } from "../domain/values/masked-phone.js";

// Masks what a rail sends before it is stored. Every value is looked at, not a list of known
// fields: a rail may add a field with a name or a phone number at any time.

const HIDDEN = "***";
const DEPTH_MAX = 20;
// In a text that is no JSON nobody can tell a name from a code. Names stand late in the messages of
// rails, so only the beginning is kept.
const TEXT_CHARACTERS_MAX = 100;

// A Kenyan phone number, alone in a value: 254712345678, +254712345678, 0712345678 or 712345678.
const PHONE = /^\+?(?:254|0)?[17][0-9]{8}$/;
// "254712345678 - JOHN DOE", or "600992 - Shop Ltd": a phone number or a shortcode, and a name.
const PARTY = /^(\+?[0-9*]{5,15}) - (.*)$/s;
const LONG_DIGITS = /[0-9]{9,}/g;

const SECRET_LABEL = /credential|password|passkey|secret|token/i;
const NAME_LABEL = /name$|^sender$/i;
// The numbers of these fields are never phone numbers.
const FIGURE_LABEL = /amount|balance|charge|funds|date|time|id$|receipt$/i;

/**
 * Returns the text of a message with phone numbers, names and secrets masked, for storage as
 * evidence. Never throws. Of a text that is not JSON it keeps the beginning.
 */
export function maskMessage(body: string): string {
  try {
    return JSON.stringify(maskedValue(JSON.parse(body), "", 0));
  } catch {
    return body.slice(0, TEXT_CHARACTERS_MAX).replaceAll(LONG_DIGITS, maskDigits);
  }
}

function maskedValue(value: unknown, label: string, depth: number): unknown {
  if (depth > DEPTH_MAX) return HIDDEN;
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, label, depth + 1));
  if (typeof value === "object" && value !== null) return maskedFields(value, depth);
  if (typeof value !== "string" && typeof value !== "number") return value;
  return maskedText(value, label);
}

function maskedFields(fields: object, depth: number): object {
  // {"Name": "PhoneNumber", "Value": 254708374149}: the label of the value stands beside it.
  const { Name, Key, Value, ...others } = fields as Record<string, unknown>;
  const label = Name ?? Key;
  if (typeof label === "string" && Object.keys(others).length === 0) {
    return { ...fields, ...(Value === undefined ? {} : { Value: maskedValue(Value, label, depth + 1) }) };
  }
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]: [string, unknown]) => [field, maskedValue(value, field, depth + 1)]),
  );
}

function maskedText(value: string | number, label: string): string | number {
  const text = String(value);
  if (SECRET_LABEL.test(label)) return HIDDEN;
  const [, party, name] = PARTY.exec(text) ?? [];
  if (party !== undefined && name !== undefined) return `${maskDigits(party)} - ${maskName(name)}`;
  if (NAME_LABEL.test(label)) return maskName(text);
  return PHONE.test(text) && !FIGURE_LABEL.test(label) ? maskDigits(text) : value;
}

/** Masks a phone number. A shortcode, which has at most 7 digits, stays. */
function maskDigits(digits: string): string {
  return readMaskedPhone(digits) ?? (digits.length > 7 ? HIDDEN : digits);
}

/** "JOHN DOE" becomes "J***". */
function maskName(name: string): string {
  return name === "" ? "" : `${Array.from(name)[0] ?? ""}${HIDDEN}`;
}
