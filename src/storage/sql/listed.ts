import type { BookHead } from "../../domain/book.js";
import {
  type ListedText,
  listedTextsOfAccount,
  listedTextsOfDestination,
  payoutListFromText,
} from "../../domain/payout-list.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { BatchLookup, LoadedRows, LookedUpText } from "../../ledger/ports/store.js";
import type { RowOf } from "../../model/column.js";
import type { PAYOUT_LISTS } from "../../model/payouts.js";
import { EMPTY_LIST, hasListHash, listEntryOf, splitEntries } from "../secrets/payout-list.js";
import { readPart } from "../secrets/unreadable-row.js";
import type { KeptLists, OpenBook } from "./book-directory.js";
import type { BatchFacts } from "./table.js";

/** A row of `payout_lists`, as both drivers read it. */
export type PayoutListRow = RowOf<typeof PAYOUT_LISTS, Uint8Array>;

interface ListsOf {
  readonly heads: readonly BookHead[];
  readonly facts: Pick<BatchFacts, "bookOf">;
  readonly kept: KeptLists;
  /** Gets the hashes of lists that are not as the service wrote them. */
  readonly changedRows: Set<string>;
  /** Reads the lists with these hashes. */
  readonly read: (
    lists: readonly { readonly book: number; readonly name: string }[],
  ) => Promise<readonly PayoutListRow[]>;
}

type Hashes = ReadonlyMap<OrganizationId, ReadonlySet<string>>;

/**
 * Says which lists have the accounts and the destinations of a look-up, once these are decrypted:
 * the list that holds, and those that the batch may set.
 */
export async function listedIn(
  lookup: BatchLookup,
  { accountHolders, destinations }: Pick<LoadedRows, "accountHolders" | "destinations">,
  of: ListsOf,
): Promise<readonly LookedUpText[]> {
  const keys = lookup.keysOf("listed");
  const hashes = hashesOf(lookup, of.heads);
  if (keys.length === 0 || hashes.size === 0) return [];
  const lists = await entriesOf(hashes, of);
  const texts = new Map<string, readonly ListedText[]>([
    ...accountHolders.map((each) => [each.accountId, listedTextsOfAccount(each.accountId, each)] as const),
    ...destinations.map((each) => [each.id, listedTextsOfDestination(each)] as const),
  ]);
  return keys.flatMap(({ organizationId, name }): readonly LookedUpText[] => {
    const own = [...(hashes.get(organizationId) ?? [])];
    if (own.length === 0) return [];
    const book = of.facts.bookOf(organizationId);
    return (texts.get(name) ?? []).map((text) => {
      const entry = listEntryOf(book.keys, text);
      const having = own.filter((hash) => lists.get(keyOf(book, hash))?.has(entry) === true);
      return { organizationId, text, lists: having };
    });
  });
}

function hashesOf(lookup: BatchLookup, heads: readonly BookHead[]): Hashes {
  const hashes = new Map<OrganizationId, Set<string>>();
  const add = (id: OrganizationId, hash: string): unknown => hashes.set(id, (hashes.get(id) ?? new Set()).add(hash));
  for (const { organizationId, name } of lookup.keysOf("payoutList")) add(organizationId, name);
  const asked = new Set(lookup.keysOf("listed").map(({ organizationId }) => organizationId));
  for (const { organizationId, payoutList } of heads) {
    if (payoutList === undefined || !asked.has(organizationId)) continue;
    add(organizationId, readPart("payout_list in a row of books", () => payoutListFromText(payoutList)).hash);
  }
  return hashes;
}

async function entriesOf(
  hashes: Hashes,
  { facts, kept, changedRows, read }: ListsOf,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const lists = new Map<string, ReadonlySet<string>>();
  const missing: { readonly book: number; readonly name: string }[] = [];
  for (const [organizationId, own] of hashes) {
    const book = facts.bookOf(organizationId);
    for (const hash of own) {
      const entries = hash === EMPTY_LIST ? new Set<string>() : kept.get(keyOf(book, hash));
      if (entries === undefined) missing.push({ book: book.number, name: hash });
      else lists.set(keyOf(book, hash), entries);
    }
  }
  for (const row of await read(missing)) {
    if (!hasListHash(row.entries, row.list)) continue;
    const key = keyOf({ number: row.book }, row.list);
    const entries = splitEntries(row.entries);
    kept.set(key, entries);
    lists.set(key, entries);
  }
  for (const { book: number, name } of missing) if (!lists.has(keyOf({ number }, name))) changedRows.add(name);
  return lists;
}

function keyOf({ number }: Pick<OpenBook, "number">, hash: string): string {
  return `${String(number)} ${hash}`;
}
