/** Yields the items in slices of this size. The last one may be shorter. */
export function* slicesOf<Item>(items: readonly Item[], size: number): Generator<readonly Item[], void, void> {
  for (let first = 0; first < items.length; first += size) yield items.slice(first, first + size);
}
