import { csvOf, fieldsOf } from "../export.js";
import type { JournalEntry, Supply } from "../gen/messages.js";
import type { Page, Visit } from "../page.js";
import type { ReadRows } from "../upstream/rows.js";
import type { Reading, ReadingOf } from "../upstream/upstream.js";
import { centsOf, dayText, decimalOf } from "../view/values.js";

const SHARED = ["account_id", "transaction_id", "reference", "description", "rail_receipt", "kind", "source"] as const;
const OF_BOOK = ["currency", "user_id", "organization_id", "note", "corrects_month"] as const;
/** The columns of ExportGeneralLedger, in their order. */
const COLUMNS = [
  ...(["sequence", "date", "recorded_at", "type", "book_account", "debit", "credit", "balance"] as const),
  ...SHARED,
  ...OF_BOOK,
] as const;
const ACCOUNTS = ["reserve", "shortfall", "charges", "available", "held", "unallocated"] as const;
type BookAccount = (typeof ACCOUNTS)[number];
/** A debit adds to these, and takes from the others. */
const ASSETS: ReadonlySet<string> = new Set(["reserve", "shortfall", "charges"]);
const DAY_MILLIS = 86_400_000;
/** A point in the past must be 60 seconds ago by the clock of the server. */
const PAST_MILLIS = 61_000;

/** One side of a posting, or a line "opening" or "closing". */
type LedgerLine = Readonly<Record<(typeof COLUMNS)[number], string | number | null>>;
type Sums = Record<BookAccount, bigint>;

/** The double entries of a period, as ExportGeneralLedger has them. */
export const ledgerCsv: Page = {
  path: "/:org/general-ledger.csv",
  isDownload: true,
  async show(visit) {
    const { query, organization } = visit;
    if (organization === undefined) return undefined;
    const start = query.get("start") || dayText(new Date(organization.created_at));
    const end = query.get("end") || dayText(new Date());
    const { id } = organization;
    return csvOf<LedgerLine>({
      name: ["general-ledger", id, start, end].join("-"),
      read: readerOf(visit, { id, start, end }),
      columns: fieldsOf<LedgerLine>(...COLUMNS),
      command: `kesc export ledger ${id} --from ${start} --to ${end}`,
    });
  },
};

/** Returns the supply of a moment, or of now if that is to come. */
function supplyAt(visit: Visit, at: Date): Promise<ReadingOf<"BookService/GetSupply">> {
  const isPast = at.getTime() <= Date.now() - PAST_MILLIS;
  return visit.read("BookService/GetSupply", isPast ? { as_of_time: at.toISOString() } : {});
}

/** Reads the rows of the book forward, so that each line has the balance after it. */
function readerOf(visit: Visit, { id: organization_id, start, end }: Record<"id" | "start" | "end", string>) {
  const midnight = (day: string): number => Date.parse(`${day}T00:00:00+03:00`);
  const [startsAt, endsAt] = [new Date(midnight(start)), new Date(midnight(end) + DAY_MILLIS)];
  let last = 0;
  let sums = sumsOf(undefined);
  const [debits, credits] = [sumsOf(undefined), sumsOf(undefined)];

  const boundary = (type: "opening" | "closing", sequence: number, at: Date): readonly LedgerLine[] =>
    ACCOUNTS.map((account) => ({
      ...(Object.fromEntries(COLUMNS.map((name) => [name, null])) as LedgerLine),
      ...(sequence === 0 ? {} : { sequence }),
      // The end of a period is the first moment after it.
      date: dayText(new Date(at.getTime() - (type === "closing" ? 1 : 0))),
      recorded_at: at.toISOString(),
      type,
      book_account: account,
      ...(type === "closing" ? { debit: decimalOf(debits[account]), credit: decimalOf(credits[account]) } : {}),
      balance: decimalOf(sums[account]),
      currency: "KES",
      organization_id,
    }));

  const linesOf = ({ line }: JournalEntry): readonly LedgerLine[] => {
    const { debit_account: debit, credit_account: credit, amount } = line;
    if (debit === null || credit === null || amount === null) return [];
    const { sequence, date, recorded_at, type } = line;
    const named = Object.fromEntries([...SHARED, ...OF_BOOK].map((name) => [name, line[name]]));
    return [debit, credit].map((book_account, index) => {
      const account = book_account as BookAccount;
      const [cents, isDebit] = [centsOf(amount), index === 0];
      (isDebit ? debits : credits)[account] += cents;
      sums[account] += isDebit === ASSETS.has(account) ? cents : -cents;
      const sides = { debit: isDebit ? amount : null, credit: isDebit ? null : amount };
      const own = { sequence, date, recorded_at, type, book_account, ...sides, balance: decimalOf(sums[account]) };
      return { ...named, ...own } as LedgerLine;
    });
  };

  const read: ReadRows<LedgerLine> = async ({ page_size, page_token }) => {
    const lines: LedgerLine[] = [];
    let start_sequence = Number(page_token);
    if (page_token === "") {
      const [opening, closing] = [await supplyAt(visit, startsAt), await supplyAt(visit, endsAt)];
      if (!opening.ok) return opening;
      if (!closing.ok) return closing;
      sums = sumsOf(opening.value.supply);
      last = closing.value.supply.as_of_sequence ?? 0;
      const before = opening.value.supply.as_of_sequence ?? 0;
      lines.push(...boundary("opening", before, startsAt));
      start_sequence = before + 1;
    }
    const end_sequence = Math.min(start_sequence + page_size, last + 1);
    if (start_sequence < end_sequence) {
      const rows = await rowsBetween(visit, { start_sequence, end_sequence, page_size });
      if (!rows.ok) return rows;
      lines.push(...rows.value.flatMap(linesOf));
    }
    if (end_sequence <= last) return { ok: true, value: { rows: lines, next: String(end_sequence) } };
    lines.push(...boundary("closing", last, endsAt));
    return { ok: true, value: { rows: lines, next: null } };
  };
  return read;
}

/** Reads rows of the book, oldest first. */
async function rowsBetween(
  visit: Visit,
  range: Readonly<Record<"start_sequence" | "end_sequence" | "page_size", number>>,
): Promise<Reading<readonly JournalEntry[]>> {
  const found: JournalEntry[] = [];
  for (let page_token = ""; ;) {
    const reading = await visit.read("AdminService/ListJournal", { ...range, page_token });
    if (!reading.ok) return reading;
    found.push(...reading.value.entries);
    if (reading.value.next_page_token === null) return { ok: true, value: found.toReversed() };
    page_token = reading.value.next_page_token;
  }
}

function sumsOf(supply: Supply | undefined): Sums {
  return Object.fromEntries(ACCOUNTS.map((name) => [name, centsOf(supply?.[name] ?? "0")])) as Sums;
}
