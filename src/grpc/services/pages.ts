import type { OrganizationId } from "../../domain/values/ids.js";
import { type ListCaller, type ListTurns, pageInTurn } from "../calls/list-turns.js";
import type { RpcResult } from "../calls/rpc-result.js";
import { fieldsOf } from "../messages/field-kinds.js";
import type { ParsedFields } from "../messages/fields.js";
import type { OperatorCaller } from "./acts.js";
import { type AnyList, askedPage, formatPageToken, LIST_KINDS, type PageOfList } from "./paging.js";

/** A page that is asked for, and the list that it belongs to. */
export type AskedPage<Filters = AnyList["filters"]> = PageOfList<AnyList & { readonly filters: Filters }>;

interface PageFields {
  readonly page_size?: number | undefined;
  readonly page_token: string;
}

const pageFields = fieldsOf(LIST_KINDS)("page_size", "page_token");

/** Parses the page of a list. A token is valid for the same list only. */
export function parsePage<Filters extends AnyList["filters"] = AnyList["filters"]>(
  request: PageFields,
  rpc: string,
  filters = {} as Filters,
  organizationId?: OrganizationId,
): ParsedFields<AskedPage<Filters>> {
  const page = pageFields.parse(request);
  return page.ok ? askedPage({ rpc, organizationId, filters }, page.value) : page;
}

/** Parses the page of a list of the organization that the call names. */
export function parseOwnPage(
  page: PageFields,
  { organization }: OperatorCaller,
  rpc: string,
  filters?: AnyList["filters"],
): ParsedFields<AskedPage> {
  return parsePage(page, rpc, filters, organization.id);
}

/**
 * Returns one page of those items in memory that match. New items come last: so the token is the
 * place of the next item among all. The few kinds of items that can be removed fit into one page.
 */
function pageInMemory<Item>(
  items: readonly Item[],
  { list, page: { size, beforeSeq: begin = 0 } }: AskedPage,
  matches: (item: Item) => boolean = () => true,
): { readonly items: readonly Item[]; readonly next_page_token: string | undefined } {
  const places = items.flatMap((item, place) => (place >= begin && matches(item) ? [{ item, place }] : []));
  return {
    items: places.slice(0, size).map(({ item }) => item),
    next_page_token: formatPageToken(list, places[size]?.place),
  };
}

/**
 * Reads all items of a list at the turn of the caller's lists, and makes the response of one page
 * of those that match. Refuses QUEUE_FULL, DEADLINE_EXCEEDED.
 */
export function listInTurn<Item, More, Response>(
  { listTurns, caller, asked, matches }: ListInTurn<Item>,
  read: () => Promise<More & { readonly items: readonly Item[] }>,
  responseOf: (page: ReturnType<typeof pageInMemory<Item>>, read: More) => Response,
): Promise<RpcResult<Response>> {
  return pageInTurn(
    { listTurns, caller },
    async () => {
      const found = await read();
      const page = pageInMemory(found.items, asked, matches);
      return { found, page, rows: page.items, lookedAt: found.items.length };
    },
    ({ found, page }) => responseOf(page, found),
  );
}

interface ListInTurn<Item> {
  readonly listTurns: ListTurns;
  readonly caller: ListCaller;
  readonly asked: AskedPage;
  readonly matches?: (item: Item) => boolean;
}

/** Returns the token after a page of rows, newest first, of which one more than `size` was read. */
export function tokenAfter(
  rows: readonly { readonly seq: number }[],
  { list, page: { size } }: AskedPage,
): string | undefined {
  return formatPageToken(list, rows.length > size ? rows[size - 1]?.seq : undefined);
}
