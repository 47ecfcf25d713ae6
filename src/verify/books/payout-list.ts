import type { RowOf } from "../../model/column.js";
import type { BOOKS } from "../../model/organizations.js";
import type { PAYOUT_LISTS } from "../../model/payouts.js";
import { EMPTY_LIST, listHashOf } from "../../storage/secrets/payout-list.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { jsonIn } from "../guarded.js";
import type { AuditedBook } from "./book.js";
import { checkOwnHash } from "./content.js";
import type { AuditPart } from "./part.js";

type HoldingListRow = Pick<RowOf<typeof BOOKS>, "payout_list"> & {
  readonly entries: RowOf<typeof PAYOUT_LISTS>["entries"] | null;
};

const ENTRY_BYTES = 16;

/**
 * Compares the entries of the list that holds with its hash and its counts. A stored list that does
 * not hold decides nothing, so nothing is said of it.
 */
export function payoutListAudit(audit: Audit, book: AuditedBook): AuditPart {
  const table = "payout_lists";
  return {
    table,
    row: (row) => {
      if (row.kind === "payouts.list_set") checkOwnHash(book, row);
    },
    end: async () => {
      const [row] = await audit.rows<HoldingListRow>(sqlOf(audit), [book.row.number]);
      const text = row?.payout_list ?? null;
      if (row === undefined || text === null) return;
      const [hash, ...counts] = (jsonIn("payout_list", text, "[]") as unknown[]).slice(0, 4);
      const count = counts.reduce<number>((sum, each) => sum + Number(each), 0);
      const place: Place = { seq: undefined, table, id: String(hash) };
      const expected = `${String(count)} entries with the hash ${String(hash)}`;
      const entries = row.entries ?? (hash === EMPTY_LIST ? Buffer.alloc(0) : undefined);
      const found = entries === undefined ? "no row" : describe(entries);
      book.findings.compare(place, { expected, found });
    },
  };
}

function describe(entries: Uint8Array): string {
  const hash = listHashOf(Buffer.from(entries).toString("hex"));
  return `${String(entries.length / ENTRY_BYTES)} entries with the hash ${hash}`;
}

/** One statement, so that both are of one moment. The hash stands first in the text. */
function sqlOf({ engine: { table } }: Pick<Audit, "engine">): string {
  return `
    SELECT b.payout_list, l.entries FROM ${table("books")} b
    LEFT JOIN ${table("payout_lists")} l ON l.book = b.number AND l.list = substr(b.payout_list, 3, 64)
    WHERE b.number = ?`;
}
