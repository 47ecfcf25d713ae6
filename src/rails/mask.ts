import { maskPhonesIn, readMaskedPhone } from "../domain/values/masked-phone.js";
import { asFields } from "./fields.js";

// Masks what a rail sends before it is stored. Every value is looked at, not a list of known
// fields: a rail may add a field with a name or a phone number at any time.

const HIDDEN = "***";
const DEPTH_MAX = 20;
// In a text that is not JSON, a name looks like a code. Names stand late in the messages of
// rails, so only the beginning is kept.
const TEXT_CHARACTERS_MAX = 100;

// A Kenyan phone number, alone in a value: 254712345678, +254712345678, 0712345678 or 712345678.
const PHONE = /^\+?(?:254|0)?[17][0-9]{8}$/;
// "254712345678 - JOHN DOE", or "600992 - Shop Ltd": a phone number or a shortcode, and a name.
const PARTY = /^(\+?[0-9*]{5,15}) - (.*)$/s;
// The SHA-256 of a phone number, as M-Pesa sends it in confirmations. There are 200 million phone
// numbers, so a table of all hashes is small: the hash is as good as the number. A message that was
// cut off may have only a part of it.
const HASHES = /(?<![0-9a-z])[0-9a-f]{40,64}(?![0-9a-z])/gi;
const LONG_DIGITS = /[0-9]{9,}/g;
// Two words or more in capitals, as M-Pesa writes names, or after a word that a person follows.
const NAMES_IN_TEXT =
  /(?<![\p{L}\p{N}])\p{Lu}[\p{Lu}'’-]+(?:\s+\p{Lu}[\p{Lu}'’-]+)+(?![\p{L}\p{N}])|(?<=\b(?:by|from|to)\s)\p{Lu}[\p{L}'’-]+(?:\s+\p{Lu}[\p{L}'’-]+)+(?![\p{L}\p{N}])/gu;
const WORD = /[^\s]+/g;
// The words by which a text says that the outcome is open (isStillProcessing). No name hides them.
const STATUS_WORD = /^(?:pending|process(?:ed|ing)|being|under|still)$/i;

const SECRET_LABEL = /credential|password|passkey|secret|token/i;
const NAME_LABEL = /name$|^(?:sender|payer|payee|receiver|recipient|customer|beneficiary)$/i;
// The numbers of these fields are never phone numbers.
const FIGURE_LABEL = /amount|balance|charge|funds|date|time|id$|receipt$/i;

// M-Pesa's notice of a queue is our own request, with our password and the addresses of our
// callbacks. Only these fields of it are evidence.
const NOTICE_LABELS = ["OriginatorConversationID", "CommandID", "Amount", "PartyA", "PartyB"];

/**
 * Returns the text of a message with phone numbers, names and secrets masked, for storage as
 * evidence. Never throws. Of a text that is not JSON it keeps the beginning.
 */
export function maskMessage(body: string): string {
  try {
    return JSON.stringify(maskedValue(evidenceOf(JSON.parse(body)), "", 0));
  } catch {
    const beginning = withoutHashes(body).slice(0, TEXT_CHARACTERS_MAX).replaceAll(LONG_DIGITS, maskDigits);
    return maskInText(beginning).slice(0, TEXT_CHARACTERS_MAX);
  }
}

/** Returns the message, but of the notice of a queue its known fields only. */
function evidenceOf(message: unknown): unknown {
  const fields = asFields(message);
  if (fields?.["OriginatorConversationID"] === undefined) return message;
  return Object.fromEntries(Object.entries(fields).filter(([label]) => NOTICE_LABELS.includes(label)));
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
  const text = withoutHashes(String(value));
  if (SECRET_LABEL.test(label)) return HIDDEN;
  const [, party, name] = PARTY.exec(text) ?? [];
  if (party !== undefined && name !== undefined) return `${maskDigits(party)} - ${maskName(name)}`;
  if (NAME_LABEL.test(label)) return maskName(text);
  if (FIGURE_LABEL.test(label)) return typeof value === "string" ? text : value;
  if (PHONE.test(text)) return maskDigits(text);
  return typeof value === "string" ? maskInText(text) : value;
}

function withoutHashes(text: string): string {
  return text.replaceAll(HASHES, HIDDEN);
}

/** Masks phone numbers and names between the words of a text. */
function maskInText(text: string): string {
  return maskPhonesIn(text).replaceAll(NAMES_IN_TEXT, (names) =>
    names.replaceAll(WORD, (word) => (STATUS_WORD.test(word) ? word : maskName(word))),
  );
}

/** Masks a phone number. A shortcode, which has at most 7 digits, stays. */
function maskDigits(digits: string): string {
  return readMaskedPhone(digits) ?? (digits.length > 7 ? HIDDEN : digits);
}

/** "JOHN DOE" becomes "J***". */
function maskName(name: string): string {
  return name === "" ? "" : `${Array.from(name)[0] ?? ""}${HIDDEN}`;
}
