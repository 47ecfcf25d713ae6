import type { RowOf } from "../../../model/column.js";
import type { TRANSACTIONS } from "../../../model/transactions.js";
import type { Audit } from "../../audit.js";
import type { BookFindings, Place } from "../../findings.js";
import { guarded } from "../../guarded.js";
import type { AuditedBook } from "../book.js";

type UnlinkedRow = RowOf<typeof TRANSACTIONS>;

/** What a correction is compared with. */
const OF_ORIGINAL = [
  "seq",
  "account_id",
  "type",
  "amount_cents",
  "rail",
  "status",
  "correction",
  "deposit_id",
  "reversed_by_id",
] as const satisfies readonly (keyof UnlinkedRow)[];

/** A row of `transactions` with a link, and the rows of the same book at the ends of its links. */
type LinkedRow = UnlinkedRow & {
  readonly [Name in Exclude<(typeof OF_ORIGINAL)[number], "seq"> as `original_${Name}`]: UnlinkedRow[Name];
} & {
  /** Null if the book has no transaction `corrects_id`, like all `original_…`. */
  readonly original_seq: number | null;
  /** Null if the book has no transaction `reversed_by_id`, or if it corrects none. */
  readonly reversal_corrects_id: string | null;
};

const OPPOSITES: Readonly<Record<string, string>> = { MINT: "REDEEM", REDEEM: "MINT" };

/**
 * Follows the links of these transactions in both directions. Each reversal must undo a completed
 * transaction of its book in full, and the two must name each other. Each late correction must book
 * a movement of an order that has ended. One statement reads both ends of a link, so that both are
 * of one moment.
 */
export async function auditCorrections(
  { engine, rows }: Audit,
  { row: { number }, findings }: AuditedBook,
  ids: readonly string[],
): Promise<void> {
  const transactions = engine.table("transactions");
  const linked = await rows<LinkedRow>(
    `
      SELECT t.*, ${OF_ORIGINAL.map((name) => `o.${name} AS original_${name}`).join(", ")},
        r.corrects_id AS reversal_corrects_id
      FROM ${transactions} t
      LEFT JOIN ${transactions} o ON o.id = t.corrects_id AND o.book = t.book
      LEFT JOIN ${transactions} r ON r.id = t.reversed_by_id AND r.book = t.book
      WHERE t.book = ? AND t.id IN (SELECT value FROM ${engine.jsonItems("?")})`,
    [number, JSON.stringify(ids)],
  );
  for (const row of linked) {
    const place: Place = { seq: row.seq, table: "transactions", id: row.id };
    guarded(findings, place, () => {
      if (row.corrects_id !== null || row.correction !== null) checkCorrection(row, place, findings);
      if (row.reversed_by_id !== null) {
        findings.compareFields(place, { "corrects_id of its reversal": [row.id, row.reversal_corrects_id] });
      }
    });
  }
}

function checkCorrection(row: LinkedRow, place: Place, findings: BookFindings): void {
  const { original_seq: originalSeq, corrects_id: correctsId } = row;
  if (originalSeq === null) {
    findings.add(place, { expected: "a transaction of the book that it corrects", found: String(correctsId) });
    return;
  }
  findings.compareFields(place, {
    account_id: [row.original_account_id, row.account_id],
    rail: [row.original_rail, row.rail],
    deposit_id: [row.original_deposit_id, row.deposit_id],
    status: ["COMPLETED", row.status],
    "correction of its original": [null, row.original_correction],
  });
  if (row.correction === "LATE") checkLate(row, place, findings);
  else checkReversal(row, place, findings);
  if (originalSeq >= row.seq) {
    findings.add(place, { expected: "an original before it", found: `seq ${String(originalSeq)}` });
  }
}

function checkReversal(row: LinkedRow, place: Place, findings: BookFindings): void {
  findings.compareFields(place, {
    correction: ["REVERSAL", row.correction],
    "reversed_by_id of its original": [row.id, row.original_reversed_by_id],
    reference: [`kesc:reverse:${String(row.corrects_id)}`, row.reference],
    type: [OPPOSITES[row.original_type], row.type],
    amount_cents: [row.original_amount_cents, row.amount_cents],
    "status of its original": ["COMPLETED", row.original_status],
    // The shillings of a deposit came over the rail before a mint credited them.
    ...(row.deposit_id === null ? { "rail of its original": ["direct", row.original_rail] } : {}),
  });
}

/** Only a transaction that the rail was asked for can get a late movement. */
function checkLate(row: LinkedRow, place: Place, findings: BookFindings): void {
  const { rail_movement: movement, rail_receipt: receipt, original_status: status } = row;
  findings.compareFields(place, { type: [row.original_type, row.type] });
  if (status !== "COMPLETED" && status !== "FAILED") {
    findings.add(place, { expected: "an original that has ended at the rail", found: status });
  }
  if (row.rail === "direct") findings.add(place, { expected: "another rail", found: row.rail });
  // A receipt may have come later, so it need not be in the reference.
  const named = movement === null ? `receipt:${String(receipt)}` : `movement:${movement}`;
  if (row.reference !== `kesc:late:${named}`) {
    findings.add(place, { expected: "a reference with its movement or its receipt", found: row.reference });
  }
}
