/** A response with one page of a list. */
interface Page {
  readonly next_page_token?: string | undefined;
}

/** Yields the items of all pages. Asks for the next page when the items before it were taken. */
export async function* itemsOf<Response extends Page, Item>(
  read: (pageToken: string) => Promise<Response>,
  itemsIn: (response: Response) => readonly Item[],
): AsyncGenerator<Item, void, void> {
  let pageToken = "";
  do {
    const page = await read(pageToken);
    yield* itemsIn(page);
    pageToken = page.next_page_token ?? "";
  } while (pageToken !== "");
}
