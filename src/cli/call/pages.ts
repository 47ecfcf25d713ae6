const PAGE_SIZE_MAX = 1_000;

interface ListedPage<Item> {
  readonly items: readonly Item[];
  /** Null behind the last page. */
  readonly nextToken: string | null;
}

/**
 * Reads the pages of a list to the end, or until there are `limit` items. One page may be short, or
 * empty, although the list goes on.
 */
export async function readPages<Item>(
  limit: number,
  read: (size: number, token: string) => Promise<ListedPage<Item>>,
): Promise<{ readonly items: readonly Item[]; readonly hasMore: boolean }> {
  const found: Item[] = [];
  let token: string | null = "";
  do {
    const { items, nextToken }: ListedPage<Item> = await read(Math.min(PAGE_SIZE_MAX, limit - found.length), token);
    found.push(...items);
    token = nextToken;
  } while (token !== null && found.length < limit);
  return { items: found, hasMore: token !== null };
}
