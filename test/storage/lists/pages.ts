import { expect } from "chai";

import type { Page, PageRequest } from "../../../src/ledger/ports/reads.js";
import { LOOKED_AT_MAX } from "../../../src/storage/lists/page.js";

/** Reads a whole list. Fails if a page is too large, or has looked at too many rows. */
export async function pagesOf<Row>(
  read: (page: PageRequest) => Promise<Page<Row>>,
  size: number,
): Promise<readonly (readonly Row[])[]> {
  const pages: (readonly Row[])[] = [];
  let beforeSeq: number | undefined;
  do {
    const { rows, nextBeforeSeq, lookedAt } = await read({ size, beforeSeq });
    expect(rows.length).to.be.at.most(size);
    expect(lookedAt).to.be.at.most(Math.max(LOOKED_AT_MAX, size + 1));
    pages.push(rows);
    beforeSeq = nextBeforeSeq;
  } while (beforeSeq !== undefined);
  return pages;
}
