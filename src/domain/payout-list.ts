import type { AccountHolder } from "./account.js";
import {
  bankAccountOf,
  type BankNumber,
  type Destination,
  type DestinationNumber,
  parseAccountNumber,
  parseBankAccount,
  parseBankCode,
  parsePaybill,
} from "./destination.js";
import type { AccountId } from "./values/ids.js";
import { type Parsed, parsed, unparsed } from "./values/parsed.js";
import { parsePhoneNumber } from "./values/phone-number.js";
import type { UnixMillis } from "./values/time.js";

/** The most entries of the list of an organization. */
export const LIST_ENTRIES_MAX = 10_000;
/** The kinds of entries, in the order in which they are counted. */
export const LISTED_KINDS = ["account", "number", "name"] as const;
export type ListedKind = (typeof LISTED_KINDS)[number];

const NAME_CHARACTERS_MAX = 200;
// Another text would hold nothing, and nobody would notice.
const ACCOUNT_ID = /^acc_[0-9a-z]{26}$/;

/**
 * What an entry of the list is compared by: its kind, a space, and its normal form. Equal texts
 * mean the same. Only its keyed hash is stored.
 */
export type ListedText = string & { readonly brand: unique symbol };

/** What a list has. It names nobody. */
export interface PayoutList {
  /** The SHA-256 of the keyed hashes of its entries, in hexadecimal. */
  readonly hash: string;
  readonly counts: Readonly<Record<ListedKind, number>>;
}

/** The list that a book has, since when, and by whom. */
export interface StandingPayoutList extends PayoutList {
  readonly by: string;
  readonly since: UnixMillis;
}

/** The detail of the row that sets the list. */
export function payoutListText({ hash, counts, by, since }: StandingPayoutList): string {
  return JSON.stringify([hash, ...LISTED_KINDS.map((kind) => counts[kind]), by, since]);
}

/** Reads a text of `payoutListText`. */
export function payoutListFromText(text: string): StandingPayoutList {
  const [hash, account, number, name, by, since] = JSON.parse(text) as [
    string,
    number,
    number,
    number,
    string,
    UnixMillis,
  ];
  return { hash, counts: { account, number, name }, by, since };
}

/** Parses an entry of a list as people write it. A number that can be read in two ways is both. */
export function parseListed(kind: ListedKind, unchecked: string): Parsed<readonly ListedText[]> {
  switch (kind) {
    case "account":
      return ACCOUNT_ID.test(unchecked)
        ? parsed([textOf("account", unchecked)])
        : unparsed("must be the id of an account, which begins with acc_");
    case "number":
      return parseNumber(unchecked);
    case "name":
      return parseName(unchecked);
  }
}

const PARTS = /^([0-9]+)\s+(\S+)$/;
const BANK_CODE_DIGITS = 2;
/** With the code of the branch, as numbers of destinations are shown. */
const BRANCH_CODE_DIGITS = 5;

/**
 * A phone number; the number of a till or paybill; that of a paybill, a space and the account
 * number; or the code of a bank, perhaps with that of the branch, a space and the number of the
 * account. "07 12345678" is a phone and an account: taken for one, it would not hold the other.
 */
function parseNumber(unchecked: string): Parsed<readonly ListedText[]> {
  const business = parsePaybill(unchecked);
  if (business.ok) return parsed([textOf("number", business.value)]);
  const phone = parsePhoneNumber(unchecked);
  const [, first, account] = PARTS.exec(unchecked) ?? [];
  const inParts = first === undefined || account === undefined ? [] : readingsOf(first, account);
  const numbers = [phone, ...inParts].flatMap((each) => (each.ok ? [textOf("number", each.value)] : []));
  if (numbers.length > 0) return parsed(numbers);
  return (
    inParts.find((part) => !part.ok) ??
    unparsed('must be a phone number, a till or paybill, or a bank\'s code with the account, such as "01 1234567890"')
  );
}

function readingsOf(first: string, account: string): readonly Parsed<string>[] {
  const bankCode = first.slice(0, BANK_CODE_DIGITS);
  const ofBank = whole(`${bankCode} ${account}`, parseBankCode(bankCode), parseBankAccount(account));
  if (first.length === BANK_CODE_DIGITS) return [ofBank];
  const ofPaybill = whole(`${first} ${account}`, parsePaybill(first), parseAccountNumber(account));
  return first.length === BRANCH_CODE_DIGITS ? [ofPaybill, ofBank] : [ofPaybill];
}

function whole(number: string, ...parts: readonly Parsed<string>[]): Parsed<string> {
  return parts.find((part) => !part.ok) ?? parsed(number);
}

function parseName(unchecked: string): Parsed<readonly ListedText[]> {
  if (unchecked.length > NAME_CHARACTERS_MAX) {
    return unparsed(`must have at most ${String(NAME_CHARACTERS_MAX)} characters`, "TOO_LONG");
  }
  const words = wordsOf(unchecked);
  return words === "" ? unparsed("must have a letter or a digit") : parsed([textOf("name", words)]);
}

/** Returns the words of a name in one case, without marks, in the order of the alphabet. */
function wordsOf(name: string): string {
  // Capitals first: that also folds what has no small letter of its own, such as "ß".
  const folded = name.normalize("NFKD").toUpperCase().toLowerCase().normalize("NFKD");
  const bare = folded.replaceAll(/\p{M}|\p{Default_Ignorable_Code_Point}/gu, "");
  const words = bare.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  return words.sort().join(" ");
}

function textOf(kind: ListedKind, normal: string): ListedText {
  return `${kind} ${kind === "number" ? normal.toUpperCase() : normal}` as ListedText;
}

/** Returns what a list may have of an account: its id, and the phone number of its user. */
export function listedTextsOfAccount(
  id: AccountId,
  holder: Pick<AccountHolder, "person"> | undefined,
): readonly ListedText[] {
  const phoneNumber = holder?.person?.phoneNumber;
  return [textOf("account", id), ...(phoneNumber === undefined ? [] : [textOf("number", phoneNumber)])];
}

/**
 * Returns what a list may have of a destination: its number, the name of its holder, and its name
 * at the rail.
 */
export function listedTextsOfDestination({
  kind,
  number,
  railName,
}: Pick<Destination, "kind" | "number" | "railName">): readonly ListedText[] {
  if (number === undefined) return [];
  const ofRail = railName === undefined ? [] : [textOf("name", wordsOf(railName))];
  return [...textsOfNumber(kind, number), ...ofRail];
}

function textsOfNumber(kind: Destination["kind"], number: DestinationNumber): readonly ListedText[] {
  switch (kind) {
    case "PHONE":
    case "TILL":
      return [textOf("number", number)];
    case "PAYBILL": {
      const [business = ""] = number.split(" ");
      return [textOf("number", business), textOf("number", number)];
    }
    case "BANK": {
      const { bankCode, account, holder } = bankAccountOf(number as BankNumber);
      return [textOf("number", `${bankCode} ${account}`), textOf("name", wordsOf(holder))];
    }
  }
}
