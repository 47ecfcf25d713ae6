/** The columns that a statement of M-Pesa can have, by our names. */
export type StatementColumn =
  | "receipt"
  | "completed"
  | "details"
  | "status"
  | "paidIn"
  | "withdrawn"
  | "balance"
  | "reason"
  | "party"
  | "linked"
  | "account"
  | "currency";

/** How forms of the statement spell a column: our words for it first. Others are passed over. */
const SPELLINGS: Readonly<Record<StatementColumn, readonly string[]>> = {
  receipt: ["Receipt No.", "Receipt", "Receipt Number"],
  completed: ["Completion Time", "Date", "Start Timestamp"],
  details: ["Details"],
  status: ["Transaction Status", "Status"],
  paidIn: ["Paid In", "Credit Amount"],
  withdrawn: ["Withdrawn", "Debit Amount"],
  balance: ["Balance"],
  reason: ["Reason Type", "Transaction Type"],
  party: ["Other Party Info", "Transaction Party Details"],
  linked: ["Linked Transaction ID"],
  account: ["A/C No.", "Account No."],
  currency: ["Currency"],
};

/** The form of the portal, and that of the feed of large merchants: all its rows are completed. */
const FORMS: readonly (readonly StatementColumn[])[] = [
  ["receipt", "completed", "details", "status", "paidIn", "withdrawn"],
  ["receipt", "completed", "reason", "party", "paidIn", "withdrawn"],
];
const FEED_AMOUNTS = new Set(["credit amount", "debit amount"]);
/** The least number of known columns that make a line a header, though others are missing. */
const HEADER_COLUMNS_MIN = 4;

const BY_SPELLING = new Map(
  Object.entries(SPELLINGS).flatMap(([column, spellings]) =>
    spellings.map((spelling) => [plainHeader(spelling), column as StatementColumn] as const),
  ),
);

/** The place of each column. `problem` says in words what is wrong with a header. */
export type Header = { readonly places: ReadonlyMap<StatementColumn, number> } | { readonly problem: string };

/** Returns undefined for a line that is no header. */
export function headerIn(cells: readonly string[]): Header | undefined {
  const places = new Map<StatementColumn, number>();
  const twice = new Set<StatementColumn>();
  const names = cells.map(plainHeader);
  for (const [place, name] of names.entries()) {
    const column = BY_SPELLING.get(name);
    if (column === undefined) continue;
    if (!places.has(column)) places.set(column, place);
    // The form of 2009 has two columns for the party: the first is the name.
    else if (column !== "party") twice.add(column);
  }
  if (places.size < HEADER_COLUMNS_MIN) return undefined;
  const form = FORMS[names.some((name) => FEED_AMOUNTS.has(name)) ? 1 : 0] ?? [];
  const missing = form.filter((column) => !places.has(column));
  if (missing.length > 0) return { problem: `lacks ${columnsText(missing)}` };
  if (twice.size > 0) return { problem: `has ${columnsText([...twice])} twice` };
  return { places };
}

/** Returns how many columns of a statement the line has. */
export function knownColumns(cells: readonly string[]): number {
  return new Set(cells.flatMap((cell) => BY_SPELLING.get(plainHeader(cell)) ?? [])).size;
}

/** The column as messages name it. */
export function columnName(column: StatementColumn): string {
  return SPELLINGS[column][0] ?? column;
}

function columnsText(columns: readonly StatementColumn[]): string {
  return `the column${columns.length === 1 ? "" : "s"} ${columns.map(columnName).join(", ")}`;
}

/** "Paid In (KSHs)", "PAID_IN" and "Paid in." are one column. */
export function plainHeader(cell: string): string {
  return cell
    .replace(/\((?:KSHS?|KES)\)/i, "")
    .replaceAll(/[_\s]+/g, " ")
    .replace(/[.:]\s*$/, "")
    .trim()
    .toLowerCase();
}
