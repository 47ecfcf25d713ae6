import {
  type BusinessNumber,
  type Destination,
  DESTINATION_KINDS,
  type DestinationKind,
  type DestinationNumber,
  parseAccountNumber,
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

export function toDestinationMessage(destination: Omit<Destination, "organizationId" | "number">): DestinationMessage {
  const { kind, removedAt } = destination;
  return {
    id: destination.id,
    account_id: destination.accountId,
    kind: KINDS[kind],
    label: shown(destination.label),
    masked_number: shownNumber(kind, destination.maskedNumber),
    usable_at: toTimestamp(destination.usableAt),
    created_at: toTimestamp(destination.createdAt),
    removed_at: removedAt === undefined ? undefined : toTimestamp(removedAt),
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
};

/** Parses the account number of a request. Only a paybill has one, and it must. */
export function parseAccountNumberOf(unchecked: string, kind: Parsed<DestinationKind>): Parsed<string | undefined> {
  if (kind.ok && kind.value === "PAYBILL") return parseAccountNumber(unchecked);
  return unchecked === "" || !kind.ok ? parsed(undefined) : unparsed("must be sent for a paybill alone", "CONFLICT");
}

/** Joins the parsed parts of a number. */
export function wholeNumber(number: DestinationNumber, accountNumber: string | undefined): DestinationNumber {
  return accountNumber === undefined ? number : paybillNumber(number as BusinessNumber, accountNumber);
}
