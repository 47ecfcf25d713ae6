import {
  bankNumber,
  type BusinessNumber,
  type Destination,
  DESTINATION_KINDS,
  type DestinationKind,
  type DestinationNumber,
  differsFromLabel,
  parseAccountNumber,
  parseBankAccount,
  parseBankCode,
  parseBranchCode,
  parseHolder,
  parsePaybill,
  parseTill,
  paybillNumber,
  shownNumber,
} from "../../domain/destination.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import { parsePhoneNumber } from "../../domain/values/phone-number.js";
import {
  type Destination as DestinationMessage,
  DestinationKind as DestinationKindMessage,
} from "../../gen/kesc/v1/destination.js";
import { enumOf, parseRequiredWord } from "./enums.js";
import { shown } from "./fields.js";
import { toTimestamp } from "./timestamp.js";

const KINDS = enumOf(DestinationKindMessage, "DESTINATION_KIND", DESTINATION_KINDS);

/** An event has a destination without its name. */
export function toDestinationMessage(
  destination: Omit<Destination, "organizationId" | "number" | "railName"> & Partial<Pick<Destination, "railName">>,
): DestinationMessage {
  const { kind, railName, removedAt } = destination;
  return {
    id: destination.id,
    account_id: destination.accountId,
    kind: KINDS[kind],
    label: shown(destination.label),
    masked_number: shownNumber(kind, destination.maskedNumber),
    usable_at: toTimestamp(destination.usableAt),
    created_at: toTimestamp(destination.createdAt),
    removed_at: removedAt === undefined ? undefined : toTimestamp(removedAt),
    rail_name: railName,
    rail_name_differs: differsFromLabel(destination.label, railName),
  };
}

/** Parses the kind of a request, which must have one. */
export function parseDestinationKind(unchecked: DestinationKindMessage): Parsed<DestinationKind> {
  return parseRequiredWord(unchecked, DESTINATION_KINDS, KINDS);
}

/** Parses the number of a request, as its kind has it. Without a kind, nobody knows how. */
export function parseDestinationNumber(unchecked: string, kind: Parsed<DestinationKind>): Parsed<DestinationNumber> {
  if (!kind.ok) return unchecked === "" ? unparsed("is required", "REQUIRED") : parsed(unchecked as DestinationNumber);
  return PARSERS[kind.value](unchecked);
}

const PARSERS: { readonly [Kind in DestinationKind]: (unchecked: string) => Parsed<DestinationNumber> } = {
  PHONE: parsePhoneNumber,
  TILL: parseTill,
  PAYBILL: parsePaybill,
  BANK: parseBankAccount as (unchecked: string) => Parsed<DestinationNumber>,
};

/** The fields that requests have for some kinds alone. */
const ONLY = {
  account_number: ["PAYBILL", "a paybill", parseAccountNumber],
  bank_code: ["BANK", "a bank account", parseBankCode],
  branch_code: ["BANK", "a bank account", parseBranchCode],
  holder_name: ["BANK", "a bank account", parseHolder],
} as const satisfies Readonly<Record<string, readonly [DestinationKind, string, (text: string) => Parsed<string>]>>;

type OnlyField = keyof typeof ONLY;

/** Parses the fields that only one kind has, and must have. */
export function parseOnlyOfKind(
  request: Readonly<Record<OnlyField, string>>,
  kind: Parsed<DestinationKind>,
): { readonly [Field in OnlyField]: Parsed<string | undefined> } {
  const parse = (field: OnlyField): Parsed<string | undefined> => {
    const [only, words, parseField] = ONLY[field];
    const unchecked = request[field];
    if (kind.ok && kind.value === only) return parseField(unchecked);
    return unchecked === "" || !kind.ok ? parsed(undefined) : unparsed(`must be sent for ${words} alone`, "CONFLICT");
  };
  return {
    account_number: parse("account_number"),
    bank_code: parse("bank_code"),
    branch_code: parse("branch_code"),
    holder_name: parse("holder_name"),
  };
}

/** Joins the parsed parts of a number. */
export function wholeNumber(
  number: DestinationNumber,
  { account_number, bank_code, branch_code, holder_name }: { readonly [Field in OnlyField]: string | undefined },
): DestinationNumber {
  if (account_number !== undefined) return paybillNumber(number as BusinessNumber, account_number);
  // A bank account has all three.
  if (bank_code === undefined || branch_code === undefined || holder_name === undefined) return number;
  return bankNumber({ bankCode: bank_code, branchCode: branch_code, account: number, holder: holder_name });
}
