import { type Parsed, parsed, unparsed } from "./parsed.js";
import { parseName } from "./text.js";

// TypeIDs: a prefix that names the type of resource, then 26 base32 characters of a time-ordered
// UUID (UUIDv7).
export type AccountId = string & { readonly brand: unique symbol };
export type TransactionId = string & { readonly brand: unique symbol };
export type FreezeId = string & { readonly brand: unique symbol };
export type WebhookEndpointId = string & { readonly brand: unique symbol };
export type OrganizationId = string & { readonly brand: unique symbol };
export type ApiKeyId = string & { readonly brand: unique symbol };
export type OperatorId = string & { readonly brand: unique symbol };
export type ProposalId = string & { readonly brand: unique symbol };
export type DepositId = string & { readonly brand: unique symbol };
export type DestinationId = string & { readonly brand: unique symbol };

// 26 characters of 5 bits hold 130 bits, but a UUID has 128. So the first character is 0 to 7.
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/**
 * Parses the id by which a caller names an account: 1 to 128 printable characters, without a space
 * at either end. It need not be a TypeID: an id that the service never gave out is not found, like
 * any other that names no account.
 */
export function parseAccountId(unchecked: string): Parsed<AccountId> {
  return parseName<AccountId>(unchecked);
}

/** Parses the id by which a caller names a transaction, with the same rules. */
export function parseTransactionId(unchecked: string): Parsed<TransactionId> {
  return parseName<TransactionId>(unchecked);
}

/** Parses the id by which a caller names a freeze, with the same rules. */
export function parseFreezeId(unchecked: string): Parsed<FreezeId> {
  return parseName<FreezeId>(unchecked);
}

/** Parses the id by which a caller names a webhook endpoint, with the same rules. */
export function parseWebhookEndpointId(unchecked: string): Parsed<WebhookEndpointId> {
  return parseName<WebhookEndpointId>(unchecked);
}

/** Parses the id by which a caller names a deposit, with the same rules. */
export function parseDepositId(unchecked: string): Parsed<DepositId> {
  return parseName<DepositId>(unchecked);
}

/** Parses the id by which a caller names a destination, with the same rules. */
export function parseDestinationId(unchecked: string): Parsed<DestinationId> {
  return parseName<DestinationId>(unchecked);
}

/** Parses a TypeID with the prefix `org`. */
export function parseOrganizationId(unchecked: string): Parsed<OrganizationId> {
  return parseTypeId<OrganizationId>(unchecked, "org");
}

/** Parses a TypeID with the prefix `key`. */
export function parseApiKeyId(unchecked: string): Parsed<ApiKeyId> {
  return parseTypeId<ApiKeyId>(unchecked, "key");
}

/** Parses a TypeID with the prefix `opr`. */
export function parseOperatorId(unchecked: string): Parsed<OperatorId> {
  return parseTypeId<OperatorId>(unchecked, "opr");
}

/** Parses a TypeID with the prefix `prp`. */
export function parseProposalId(unchecked: string): Parsed<ProposalId> {
  return parseTypeId<ProposalId>(unchecked, "prp");
}

function parseTypeId<Id extends string>(unchecked: string, prefix: string): Parsed<Id> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  return unchecked.startsWith(`${prefix}_`) && SUFFIX.test(unchecked.slice(prefix.length + 1))
    ? parsed(unchecked as Id)
    : unparsed(`must be an id such as ${prefix}_01jd2r6p5vf8ksw3xhb1z7q4ye`);
}
