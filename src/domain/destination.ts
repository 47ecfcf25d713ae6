import { BANKS_OF_KENYA } from "./banks.js";
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
 * - BANK: an account at a bank of Kenya: its number, the codes of bank and branch, and its holder.
 */
export const DESTINATION_KINDS = ["PHONE", "TILL", "PAYBILL", "BANK"] as const;
export type DestinationKind = (typeof DESTINATION_KINDS)[number];

/**
 * Maximum number of destinations of one account that are not removed. It bounds the rows that a
 * change of the account loads.
 */
export const DESTINATIONS_MAX = 20;

/** The number of a till, or that of a paybill, a space and the account number. */
export type BusinessNumber = string & { readonly brand: unique symbol };
/** The codes of bank and branch, the number of the account, and its holder, with spaces between. */
export type BankNumber = string & { readonly brand: unique symbol };
/** The number of a kind of destination: a phone number only if the kind is PHONE. */
export type DestinationNumber = PhoneNumber | BusinessNumber | BankNumber;
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
  /** Undefined if the rail told none, and once the destination is removed, like the number. */
  readonly railName: RailName | undefined;
  /** Nothing is paid out to it before. */
  readonly usableAt: UnixMillis;
  readonly createdAt: UnixMillis;
  readonly removedAt: UnixMillis | undefined;
}

/** The name that a rail has for a number: one line of 1 to 100 printable characters. */
export type RailName = string & { readonly brand: unique symbol };
const RAIL_NAME_CHARACTERS_MAX = 100;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}\s]+/gu;

/** Makes one line of what a rail told. Undefined if that is empty, or too long for a name. */
export function railNameOf(told: string): RailName | undefined {
  const line = told.replaceAll(UNPRINTABLE, " ").trim();
  return line === "" || line.length > RAIL_NAME_CHARACTERS_MAX ? undefined : (line as RailName);
}

/**
 * Whether a label says another name than the rail does. Case and punctuation do not count, nor do
 * letters that the rail hides: "Jane Wanjiku Doe" is "jane W****** D**". Undefined without both.
 */
export function differsFromLabel(label: Description, railName: RailName | undefined): boolean | undefined {
  if (railName === undefined || label === "") return undefined;
  const [ours, theirs] = [wordsOf(label), wordsOf(railName)];
  return ours.length !== theirs.length || !ours.every((word, index) => isSameWord(word, theirs[index] as string));
}

function wordsOf(text: string): readonly string[] {
  return (
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}*]+/gu) ?? []
  );
}

function isSameWord(ours: string, theirs: string): boolean {
  const hiddenFrom = theirs.indexOf("*");
  return hiddenFrom === -1 ? ours === theirs : ours.startsWith(theirs.slice(0, hiddenFrom));
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

/** An account at a bank of Kenya. */
export interface BankAccount {
  /** The 2 digits of the bank's code. */
  readonly bankCode: string;
  /** The 3 digits of the branch's code. */
  readonly branchCode: string;
  readonly account: string;
  readonly holder: string;
}

const BRANCH_CODE = /^[0-9]{3}$/;
const BANK_ACCOUNT = /^[0-9A-Za-z]{4,34}$/;
const HOLDER_CHARACTERS_MAX = 70;
// What banks take in a file: no accents. A first letter keeps a table from taking it for a formula.
const HOLDER = /^[0-9A-Za-z][0-9A-Za-z.,'()/&-]*(?: [0-9A-Za-z.,'()/&-]+)*$/;

/** Parses the code of a bank of Kenya. */
export function parseBankCode(unchecked: string): Parsed<string> {
  if (unchecked === "") return unparsed("is required for a bank account", "REQUIRED");
  return BANKS_OF_KENYA.has(unchecked)
    ? parsed(unchecked)
    : unparsed('must be the 2 digits of a bank of Kenya, such as "01" for KCB', "UNKNOWN_VALUE");
}

/** Parses the code of a branch, without that of its bank. */
export function parseBranchCode(unchecked: string): Parsed<string> {
  if (unchecked === "") return unparsed("is required for a bank account", "REQUIRED");
  return BRANCH_CODE.test(unchecked)
    ? parsed(unchecked)
    : unparsed('must be the 3 digits of the branch, without the bank\'s, such as "175"');
}

/** Parses the number of an account at a bank. */
export function parseBankAccount(unchecked: string): Parsed<string> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  return BANK_ACCOUNT.test(unchecked)
    ? parsed(unchecked)
    : unparsed("must be the number of a bank account: 4 to 34 digits or letters, without spaces");
}

/** Parses the name of an account's holder as banks take it. */
export function parseHolder(unchecked: string): Parsed<string> {
  if (unchecked === "") return unparsed("is required for a bank account", "REQUIRED");
  if (unchecked.length > HOLDER_CHARACTERS_MAX) {
    return unparsed(`must have at most ${String(HOLDER_CHARACTERS_MAX)} characters`, "TOO_LONG");
  }
  return HOLDER.test(unchecked)
    ? parsed(unchecked)
    : unparsed("must be letters of a to z, digits, single spaces and .,'()/&-, and begin with a letter or digit");
}

/** Joins the parts of a bank account. */
export function bankNumber({ bankCode, branchCode, account, holder }: BankAccount): BankNumber {
  return `${bankCode}${branchCode} ${account} ${holder}` as BankNumber;
}

const BANK_CODE_DIGITS = 2;

/** Splits what `bankNumber` joined. */
export function bankAccountOf(number: BankNumber): BankAccount {
  const [codes = "", account = "", ...names] = number.split(" ");
  const bankCode = codes.slice(0, BANK_CODE_DIGITS);
  return { bankCode, branchCode: codes.slice(BANK_CODE_DIGITS), account, holder: names.join(" ") };
}

const SHOWN_LAST = 3;
/** A text that is shorter has no digits to hide behind. */
const SHOWN_FROM = 6;

/**
 * Hides most of a number. That of a paybill is public: the account number tells whose it is. Of a
 * bank account the codes stay, and the holder goes.
 */
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
