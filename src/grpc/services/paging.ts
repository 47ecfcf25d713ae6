import { hash } from "node:crypto";

import { parseAmount } from "../../domain/values/cents.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import type { PageRequest } from "../../ledger/ports/reads.js";
import { parseRange, type RangeText } from "../../statements/period.js";
import type { UnaryRpc } from "../calls/unary-call.js";
import { KINDS } from "../messages/field-kinds.js";
import { fieldProblem, type Given, given, type ParsedFields } from "../messages/fields.js";
import { parseMaxAmount } from "../messages/transaction.js";

const PAGE_SIZES = { usual: 100, max: 1_000 };

const VERSION = 1;
const DIGEST_BYTES = 12;
const SEQ_OFFSET = 1;
const DIGEST_OFFSET = SEQ_OFFSET + 8;
const TOKEN_BYTES = DIGEST_OFFSET + DIGEST_BYTES;

const PROBLEM = "must be the next_page_token of a list with the same filters";

/** The order of a map's pairs does not matter. That of a list does. */
type FilterValue = string | number | boolean | readonly string[] | ReadonlyMap<string, string>;

/** Identifies a list. A page token is valid for one list only. */
export interface AnyList {
  /** For example "ListTransactions". */
  readonly rpc: string;
  /** Undefined for a list that belongs to no organization. */
  readonly organizationId: OrganizationId | undefined;
  readonly filters: Readonly<Record<string, FilterValue | undefined>>;
}

/** Identifies a list of one organization. */
export interface PagedList extends AnyList {
  readonly organizationId: OrganizationId;
}

/** A decoded token. pageRequestOf() checks that it belongs to the list. */
export interface PageToken {
  readonly beforeSeq: number;
  readonly listDigest: string;
}

/** Parses a page size: 1 to `max`. Absent means `usual`. */
export function parsePageSize(
  unchecked: number | undefined,
  { usual, max }: { readonly usual: number; readonly max: number } = PAGE_SIZES,
): Parsed<number> {
  if (unchecked === undefined) return parsed(usual);
  return unchecked > 0 && unchecked <= max
    ? parsed(unchecked)
    : unparsed(`must be a whole number from 1 to ${String(max)}`, "OUT_OF_RANGE");
}

/** Parses a token that formatPageToken() wrote. The empty text means the first page. */
export function parsePageToken(unchecked: string): Parsed<PageToken | undefined> {
  if (unchecked === "") return parsed(undefined);
  const bytes = Buffer.from(unchecked, "base64url");
  // Node's decoder skips characters that are not base64url. So a token is valid only if it encodes
  // back to the same text.
  const wellFormed = bytes.length === TOKEN_BYTES && bytes[0] === VERSION && bytes.toString("base64url") === unchecked;
  const beforeSeq = wellFormed ? Number(bytes.readBigUInt64BE(SEQ_OFFSET)) : Number.NaN;
  return Number.isSafeInteger(beforeSeq)
    ? parsed({ beforeSeq, listDigest: bytes.toString("base64url", DIGEST_OFFSET) })
    : unparsed(PROBLEM);
}

/** The kinds of the fields of lists. The ends of a range say when a row was created. */
export const LIST_KINDS = {
  ...KINDS,
  end: { as: "createdBefore", parse: (_: string, range: RangeText) => parseRange(range).end },
  page_size: (size: number | undefined) => parsePageSize(size),
  page_token: parsePageToken,
  start: { as: "createdAfter", parse: (_: string, range: RangeText) => parseRange(range).start },
} as const;

/**
 * Returns the page of the list. If the token belongs to another list, refuses it as an invalid
 * `page_token`.
 */
export function pageRequestOf(
  list: AnyList,
  { size, token }: { size: number; token: PageToken | undefined },
): ParsedFields<PageRequest> {
  if (token !== undefined && token.listDigest !== digestOf(list))
    return fieldProblem("page_token", PROBLEM, "CONFLICT");
  return { ok: true, value: { size, beforeSeq: token?.beforeSeq } };
}

/** The ends of a range of amounts, for the lists that have one. */
export const AMOUNT_KINDS = {
  max_amount: {
    as: "maxAmountCents",
    parse: (max: string, { min_amount: min }: { readonly min_amount: string }) => parseMaxAmount(min, max),
  },
  min_amount: { as: "minAmountCents", parse: parseAmount },
} as const;

/** A list that is asked for, and the page of it. */
export interface PageOfList<List extends AnyList> {
  readonly list: List;
  readonly page: PageRequest;
}

interface PageValues {
  readonly pageSize: number;
  readonly pageToken: PageToken | undefined;
}

/** Adds the page that a request names to its list. */
export function askedPage<List extends AnyList>(
  list: List,
  { pageSize: size, pageToken: token }: PageValues,
): ParsedFields<PageOfList<List>> {
  const page = pageRequestOf(list, { size, token });
  return page.ok ? { ok: true, value: { list, page: page.value } } : page;
}

type FilteredList<Values> = PagedList & { readonly filters: Given<Omit<Values, keyof PageValues>> };

/**
 * Makes the `parse` of a list of the caller's organization, from that of its fields. All of them
 * but those of the page are its filters.
 */
export function listOf<Request, Values extends PageValues>(
  rpc: string,
  { parse }: { readonly parse: (request: Request) => ParsedFields<Values> },
): Pick<UnaryRpc<Request, PageOfList<FilteredList<Values>>, never>, "parse"> {
  return {
    parse: (request, { organization }) => {
      const fields = parse(request);
      if (!fields.ok) return fields;
      const { pageSize, pageToken, ...filters } = fields.value;
      const list = { rpc, organizationId: organization.id, filters: given(filters) };
      return askedPage(list as unknown as FilteredList<Values>, { pageSize, pageToken });
    },
  };
}

/** Returns the token of the next page, or undefined on the last page. */
export function formatPageToken(list: AnyList, nextBeforeSeq: number | undefined): string | undefined {
  if (nextBeforeSeq === undefined) return undefined;
  const bytes = Buffer.alloc(TOKEN_BYTES);
  bytes[0] = VERSION;
  bytes.writeBigUInt64BE(BigInt(nextBeforeSeq), SEQ_OFFSET);
  bytes.write(digestOf(list), DIGEST_OFFSET, "base64url");
  return bytes.toString("base64url");
}

/** Returns the token of the page after the row with this id. Undefined on the last page. */
export function formatIdToken(list: AnyList, id: string | undefined): string | undefined {
  return id === undefined ? undefined : Buffer.from(`${digestOf(list)} ${id}`).toString("base64url");
}

/** Parses a token that formatIdToken() wrote for this list. Returns the id. */
export function parseIdToken<Id extends string>(list: AnyList, unchecked: string): Parsed<Id> {
  const [digest, id = ""] = Buffer.from(unchecked, "base64url").toString().split(" ");
  if (!/^[a-z]{3}_[0-9a-z]{26}$/.test(id)) return unparsed(PROBLEM);
  return digest === digestOf(list) ? parsed(id as Id) : unparsed(PROBLEM, "CONFLICT");
}

// The digest guards against mistakes, not against attacks. A page only has rows of the caller's
// organization, whatever the token says.
function digestOf({ rpc, organizationId, filters }: AnyList): string {
  const canonicalFilters = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, value instanceof Map ? [...value].sort(byName) : value] as const)
    .sort(byName);
  const digest = hash("sha256", JSON.stringify([rpc, organizationId, canonicalFilters]), "buffer");
  return digest.toString("base64url", 0, DIGEST_BYTES);
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1;
}
