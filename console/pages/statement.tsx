import type { VNode } from "preact";

import { csvOf, fieldsOf } from "../export.js";
import type { GetStatementResponse, StatementLine } from "../gen/messages.js";
import type { Page, Visit } from "../page.js";
import { pageOf, type ReadRows } from "../upstream/rows.js";
import { listPath, Ranges } from "../view/filters.js";
import { pathOfId, RowLink, Short } from "../view/journal.js";
import { lastRowFacts } from "../view/last-row.js";
import { Link, pathWith } from "../view/link.js";
import { type Column, Facts, More, Section, Table } from "../view/parts.js";
import { Brief, centsOf, dayOf, dayText, decimalOf, Id, Money, sumOf, Text, timeText, words } from "../view/values.js";

const DAY_MILLIS = 86_400_000;
const DAYS = 30;
const ROWS = 100;
const ROWS_TO_PRINT = 1_000;
// The server refuses an end that is not 60 seconds ago: another row could still belong to it.
const SETTLED_MILLIS = 61_000;
const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/** Which lines the URL asks for. The end of the first page is that of all others. */
function periodOf({ query }: Visit) {
  const now = Date.now();
  const day = (name: string, otherwise: number): string => {
    const asked = query.get(name) ?? "";
    return DAY.test(asked) ? asked : dayText(new Date(otherwise));
  };
  const days = { start: day("start", now - DAYS * DAY_MILLIS), end: day("end", now) };
  const isToday = days.end === dayText(new Date(now));
  const until = isToday ? (query.get("until") ?? new Date(now - SETTLED_MILLIS).toISOString()) : days.end;
  return { days, until };
}

/** What came in and went out, line by line, from the opening to the closing balance? */
export const statementPage: Page = {
  path: "/:org/accounts/:acc/statement",
  async show(visit) {
    const { path, query, ids } = visit;
    const { days, until: end } = periodOf(visit);
    const account_id = ids["acc"] ?? "";
    const isToPrint = query.get("print") === "yes";
    const page_size = isToPrint ? ROWS_TO_PRINT : ROWS;
    const page_token = query.get("page") ?? "";
    const [reading, account] = await Promise.all([
      visit.read("BookService/GetStatement", { account_id, start: days.start, end, page_size, page_token }),
      visit.read("AccountService/GetAccount", { account_id }),
    ]);
    if (!reading.ok && reading.refusal.reason === "ACCOUNT_NOT_FOUND") return undefined;
    const lastRow = isToPrint && reading.ok ? await readLastRow(visit, reading.value.end) : {};
    const user = account.ok ? account.value.account.user_id : null;
    return {
      title: "Statement",
      body: (
        <>
          <h1>Statement{user === null ? null : <> of {<Text>{user}</Text>}</>}</h1>
          <p class="screen">
            <Link to={pathOfId(visit, account_id)}>To the account</Link>
          </p>
          <Ranges visit={visit} days={days} />
          <form method="get" action={path} class="filters">
            <label>
              From the day
              <input type="date" name="start" value={days.start} required />
            </label>
            <label>
              To the end of the day
              <input type="date" name="end" value={days.end} required />
            </label>
            <button type="submit">Show</button>
          </form>
          <Section title="Lines, oldest first" reading={reading} retry={path}>
            {(statement) => (
              <>
                <Sums visit={visit} statement={statement} days={days} lastRow={lastRow} />
                <Table
                  columns={isToPrint ? PAPER_COLUMNS : columnsOf(visit)}
                  rows={statement.lines}
                  empty="No line in this period, or in the rows read so far."
                />
                <Next path={path} days={days} print={query.get("print") ?? ""} statement={statement} />
              </>
            )}
          </Section>
          <p class="export">
            <Link to={listPath(`${path}.csv`, query, { page: "", print: "" })}>Export as CSV</Link>{" "}
            <Link to={pathWith(path, { ...days, print: "yes" })}>On one page, to print</Link>{" "}
            <small>10,000 lines at most, and 1,000 on a page.</small>
          </p>
        </>
      ),
    };
  },
};

type LastRow = ReturnType<typeof lastRowFacts>;

async function readLastRow(visit: Visit, as_of_time: string): Promise<LastRow> {
  const [supply, checkpoint] = await Promise.all([
    visit.readPast("BookService/GetSupply", { as_of_time }),
    visit.read("BookService/GetCheckpoint", {}),
  ]);
  return supply.ok ? lastRowFacts(supply.value.supply.as_of_sequence, checkpoint) : {};
}

interface OfStatement {
  readonly visit: Visit;
  readonly statement: GetStatementResponse;
  readonly days: Readonly<Record<"start" | "end", string>>;
  readonly lastRow: LastRow;
}

/** Whose statement it is, of which days, and both balances: what a printed page must say. */
function Sums({ visit, statement, days, lastRow }: OfStatement): VNode {
  const { opening_balance, closing_balance, start, end, lines } = statement;
  const sum = (name: "amount_in" | "amount_out"): string => sumOf(lines.map((line) => line[name] ?? "0"));
  return (
    <Facts
      facts={{
        Organization: visit.organization && (
          <>
            <Text>{visit.organization.name}</Text> <Id>{visit.organization.id}</Id>
          </>
        ),
        Account: <Id>{visit.ids["acc"] ?? ""}</Id>,
        Period: `${dayOf(days.start)} to ${dayOf(days.end)}, days in Kenya`,
        "Opening balance": (
          <>
            <Money>{opening_balance}</Money> KESC at {timeText(new Date(start))}
          </>
        ),
        "Closing balance": (
          <>
            <Money>{closing_balance}</Money> KESC at {timeText(new Date(end))}
          </>
        ),
        "In, on this page": (
          <>
            <Money>{sum("amount_in")}</Money> KESC
          </>
        ),
        "Out, on this page": (
          <>
            <Money>{sum("amount_out")}</Money> KESC
          </>
        ),
        ...lastRow,
      }}
    />
  );
}

interface NextProps extends Pick<OfStatement, "statement" | "days"> {
  readonly path: string;
  readonly print: string;
}

function Next({ path, days, print, statement: { lines, end: until, next_page_token: page } }: NextProps): VNode | null {
  if (page === null) return null;
  return (
    <>
      <More to={pathWith(path, { ...days, until, page, print })} isEmpty={lines.length === 0} word="Newer" />
      <p class="paper">The statement has more lines than this page.</p>
    </>
  );
}

function columnsOf(visit: Visit): readonly Column<StatementLine>[] {
  return [
    { head: "When", cell: ({ recorded_at }) => timeText(new Date(recorded_at)) },
    {
      head: "Row",
      cell: ({ sequence }) => (sequence === null ? null : <RowLink visit={visit} sequence={sequence} />),
      isMinor: true,
    },
    { head: "What", cell: whatOf, isTitle: true },
    {
      head: "Payment",
      cell: ({ transaction_id: id }) => (id === null ? null : <Short visit={visit} id={id} />),
    },
    {
      head: "Receipt",
      cell: ({ rail_receipt: text }) => (text === null ? null : <Brief>{text}</Brief>),
      isMinor: true,
    },
    ...MONEY_COLUMNS,
  ];
}

/** "mint", "payout" or another word of the general ledger, and else the type of the row. */
function whatOf({ kind, type }: StatementLine): string {
  return kind ?? words(type);
}

const MONEY_COLUMNS: readonly Column<StatementLine>[] = [
  { head: "In", cell: ({ amount_in }) => <Money>{amount_in}</Money>, isMoney: true },
  { head: "Out", cell: ({ amount_out }) => <Money>{amount_out}</Money>, isMoney: true },
  { head: "Balance, KESC", cell: ({ balance }) => <Money>{balance}</Money>, isMoney: true },
];

/** On paper nothing can be opened, so each line has whole texts to match other papers by. */
const PAPER_COLUMNS: readonly Column<StatementLine>[] = [
  { head: "When", cell: ({ recorded_at }) => timeText(new Date(recorded_at)) },
  { head: "Row", cell: ({ sequence }) => sequence?.toLocaleString("en") },
  { head: "What", cell: whatOf, isTitle: true },
  { head: "Reference", cell: ({ reference }) => reference },
  { head: "Receipt", cell: ({ rail_receipt }) => rail_receipt },
  ...MONEY_COLUMNS,
];

/** Reads the lines of a file: the opening line, those of the pages, and the closing line. */
function readerOf(visit: Visit, request: Readonly<Record<string, string>>): ReadRows<StatementLine> {
  let [amountIn, amountOut] = [0n, 0n];
  const of = { organization_id: visit.organization?.id ?? "", account_id: request["account_id"] ?? "" };
  return async (page) => {
    const reading = await visit.read("BookService/GetStatement", { ...request, ...page });
    return pageOf(reading, ({ lines, opening_balance, closing_balance, start, end, next_page_token }) => {
      amountIn += centsOf(sumOf(lines.map(({ amount_in }) => amount_in ?? "0")));
      amountOut += centsOf(sumOf(lines.map(({ amount_out }) => amount_out ?? "0")));
      const sums = { amount_in: decimalOf(amountIn), amount_out: decimalOf(amountOut) };
      return [
        ...(page.page_token === "" ? [boundaryOf("opening", start, { ...of, balance: opening_balance })] : []),
        ...lines,
        ...(next_page_token === null ? [boundaryOf("closing", end, { ...of, balance: closing_balance, ...sums })] : []),
      ];
    });
  };
}

function boundaryOf(
  type: string,
  at: string,
  known: Partial<StatementLine> & Pick<StatementLine, "organization_id" | "account_id">,
): StatementLine {
  const none = {
    sequence: null,
    transaction_id: null,
    reference: null,
    description: null,
    rail_receipt: null,
    kind: null,
  };
  const amounts = { amount_in: null, amount_out: null, balance: "", available_balance: "", held_balance: "" };
  // The end of a period is the first moment after it.
  const day = dayText(new Date(Date.parse(at) - (type === "closing" ? 1 : 0)));
  return { ...none, ...amounts, date: day, recorded_at: at, type, ...known };
}

/** The statement as a file, with the columns of ExportStatement. */
export const statementCsv: Page = {
  path: "/:org/accounts/:acc/statement.csv",
  isDownload: true,
  show: (visit) => {
    const { days, until } = periodOf(visit);
    const account_id = visit.ids["acc"] ?? "";
    return csvOf({
      name: `statement-${account_id}-${visit.organization?.id ?? ""}-${days.start}-${days.end}`,
      read: readerOf(visit, { account_id, start: days.start, end: until }),
      columns: fieldsOf<StatementLine>(
        ...(["sequence", "date", "recorded_at", "type", "transaction_id", "reference", "description"] as const),
        ...(["rail_receipt", "amount_in", "amount_out", "balance", "available_balance", "held_balance"] as const),
        ...(["organization_id", "account_id", "kind"] as const),
      ),
    });
  },
};
