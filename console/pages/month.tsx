import type { VNode } from "preact";

import type { Deposit } from "../gen/messages.js";
import { type Page, type Visit, within } from "../page.js";
import type { ReadingOf } from "../upstream/upstream.js";
import { lastRowFacts } from "../view/last-row.js";
import { Link, pathWith } from "../view/link.js";
import { countOf } from "../view/lists.js";
import { Commands, Facts, Refused, Section, Table } from "../view/parts.js";
import { centsOf, dayText, decimalOf, Id, lessOf, Money, sumOf, Text, words } from "../view/values.js";
import { asksForStatements, MONTH_PATH, Pack, packFacts } from "./close-month.js";
import { PLACE_COLUMNS, recordedPlace } from "./supply.js";

const DEPOSITS = 1_000;
const DAY_MILLIS = 86_400_000;
// A point in the past must be 60 seconds ago by the clock of the server.
const SETTLED_MILLIS = 120_000;
const MONTH_NAME = new Intl.DateTimeFormat("en-GB", { timeZone: "Africa/Nairobi", month: "long", year: "numeric" });

/** A month in Kenya: its days, and the points of the book at its ends. */
interface Month {
  readonly name: string;
  readonly start: string;
  readonly end: string;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly isOver: boolean;
}

/** Reads the month of a URL, such as "2026-11". Anything else is this month. */
export function monthOf(text: string, now: Date): Month {
  const asked = /^20[0-9]{2}-(?:0[1-9]|1[0-2])$/.test(text) ? text : dayText(now).slice(0, 7);
  const first = (month: string): Date => new Date(`${month}-01T00:00:00+03:00`);
  // 32 days after the first of a month is a day of the next one.
  const next = first(dayText(new Date(first(asked).getTime() + 32 * DAY_MILLIS)).slice(0, 7));
  const settled = new Date(now.getTime() - SETTLED_MILLIS);
  const isOver = next <= settled;
  return {
    name: MONTH_NAME.format(first(asked)),
    start: `${asked}-01`,
    end: dayText(new Date(next.getTime() - DAY_MILLIS)),
    startsAt: first(asked).toISOString(),
    endsAt: (isOver ? next : settled).toISOString(),
    isOver,
  };
}

/** What does an accountant book for a month? */
export const monthPage: Page = {
  path: MONTH_PATH,
  async show(visit) {
    const { path, query } = visit;
    const month = monthOf(query.get("month") ?? "", new Date());
    const at = (as_of_time: string): Promise<ReadingOf<"BookService/GetSupply">> =>
      visit.readPast("BookService/GetSupply", { as_of_time });
    const [opening, closing, checkpoint, deposits, pack] = await Promise.all([
      at(month.startsAt),
      at(month.endsAt),
      visit.read("BookService/GetCheckpoint", {}),
      visit.read("DepositService/ListDeposits", { start: month.start, end: month.end, page_size: DEPOSITS }),
      month.isOver ? packFacts(visit) : undefined,
    ]);
    const asked = month.start.slice(0, 7);
    return {
      title: month.name,
      ...(pack !== undefined && asksForStatements(visit, pack, asked) ? { isForm: true } : {}),
      body: (
        <>
          <h1>{month.name}</h1>
          <p>
            {visit.organization === undefined ? null : (
              <>
                <Text>{visit.organization.name}</Text> <Id>{visit.organization.id}</Id>
              </>
            )}
            . Days are those of Kenya.
            {month.isOver ? "" : " The month is not over: the figures are two minutes old."}
          </p>
          <form method="get" action={path} class="filters">
            <label>
              Month
              <input type="month" name="month" value={asked} required />
            </label>
            <button type="submit">Show</button>
          </form>
          <Book opening={opening} closing={closing} checkpoint={checkpoint} />
          <Section title="Deposits received" reading={deposits} retry={path}>
            {({ deposits: rows, next_page_token: token }) => (
              <>
                <Received rows={rows} />
                {token === null ? null : <p>These are the newest 1,000. The file has 10,000.</p>}
              </>
            )}
          </Section>
          {pack === undefined ? null : <Pack visit={visit} month={asked} facts={pack} />}
          <Files visit={visit} month={month} />
        </>
      ),
    };
  },
};

type Line = readonly [name: string, amount: string];
type Sums = Extract<ReadingOf<"BookService/GetSupply">, { ok: true }>["value"]["supply"];

interface BookProps {
  readonly opening: ReadingOf<"BookService/GetSupply">;
  readonly closing: ReadingOf<"BookService/GetSupply">;
  readonly checkpoint: ReadingOf<"BookService/GetCheckpoint">;
}

/** The rows of the month, what moved, and where the reserve lay at the end. */
function Book({ opening, closing, checkpoint }: BookProps): VNode {
  const refused = [opening, closing].flatMap((reading) => (reading.ok ? [] : [reading.refusal]));
  if (!opening.ok || !closing.ok) {
    return (
      <section>
        <h2>The book</h2>
        {refused.map((refusal, index) => (
          <Refused key={index} refusal={refusal} />
        ))}
      </section>
    );
  }
  const [before, after] = [opening.value.supply, closing.value.supply];
  return (
    <>
      <section>
        <h2>The book</h2>
        <Facts facts={{ Rows: rowsBetween(before, after), ...lastRowFacts(after.as_of_sequence, checkpoint) }} />
        <Turnover opening={before} closing={after} />
      </section>
      <section>
        <h2>Places at the end</h2>
        <Table
          columns={PLACE_COLUMNS}
          rows={after.reserve_holdings.map(recordedPlace)}
          empty="No place has a figure for the last day or an earlier one."
        />
      </section>
    </>
  );
}

function rowsBetween(opening: Sums, closing: Sums): string {
  const [before, last] = [opening.as_of_sequence ?? 0, closing.as_of_sequence ?? 0];
  return before === last ? "none" : `#${(before + 1).toLocaleString("en")} to #${last.toLocaleString("en")}`;
}

interface TurnoverProps {
  readonly opening: Sums;
  readonly closing: Sums;
}

function Turnover({ opening, closing }: TurnoverProps): VNode {
  const changeOf = (name: "minted" | "redeemed"): string =>
    decimalOf(centsOf(closing[name] ?? "0") - centsOf(opening[name] ?? "0"));
  const lines: readonly Line[] = [
    ["In circulation at the beginning", opening.in_circulation],
    ["Minted", changeOf("minted")],
    ["Redeemed", changeOf("redeemed")],
    ["In circulation at the end", closing.in_circulation],
  ];
  return (
    <div class="narrow">
      <Table
        columns={[
          { head: "In circulation", cell: ([name]) => name },
          { head: "KESC", cell: ([, amount]) => <Money>{amount}</Money>, isMoney: true },
        ]}
        rows={lines}
        empty=""
      />
      <GeneralLedger opening={opening} closing={closing} />
    </div>
  );
}

/** The six accounts of the book at both ends: the two sums of each end are equal. */
function GeneralLedger({ opening, closing }: TurnoverProps): VNode {
  const rows = ACCOUNTS.map(([name, ...of]): LedgerRow => {
    const [before, after] = [opening, closing].map((sums) => sumOf(of.map((account) => sums[account])));
    return { name, before: before ?? "", after: after ?? "", isSum: of.length > 1 };
  });
  const shown = ({ isSum }: LedgerRow, value: VNode | string): VNode | string =>
    isSum ? <strong>{value}</strong> : value;
  return (
    <Table
      columns={[
        { head: "General ledger", cell: (row) => shown(row, row.name) },
        { head: "Opening", cell: (row) => shown(row, <Money>{row.before}</Money>), isMoney: true, isMinor: true },
        {
          head: "Change",
          cell: (row) => shown(row, <Money>{lessOf(row.after, row.before)}</Money>),
          isMoney: true,
        },
        { head: "Closing", cell: (row) => shown(row, <Money>{row.after}</Money>), isMoney: true },
      ]}
      rows={rows}
      empty=""
    />
  );
}

interface LedgerRow {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  readonly isSum: boolean;
}

const ACCOUNTS = [
  ["Reserve", "reserve"],
  ["Shortfall", "shortfall"],
  ["Rail charges, net of funding", "charges"],
  ["Assets", "reserve", "shortfall", "charges"],
  ["Available to users", "available"],
  ["Held for redemptions", "held"],
  ["Unallocated deposits", "unallocated"],
  ["Liabilities", "available", "held", "unallocated"],
] as const;

function Received({ rows }: { readonly rows: readonly Deposit[] }): VNode {
  const statuses = [...new Set(rows.map(({ status }) => status))].sort();
  const groups = statuses.map((status) => rows.filter((row) => row.status === status));
  return (
    <div class="narrow">
      <Table
        columns={[
          { head: "Status now", cell: ([first]: readonly Deposit[]) => words(first?.status ?? "") },
          { head: "Deposits", cell: (group) => group.length.toLocaleString("en"), isMoney: true },
          { head: "KES", cell: (group) => <Money>{sumOf(group.map(({ amount }) => amount))}</Money>, isMoney: true },
        ]}
        rows={groups}
        empty="None."
        totals={[{ name: countOf(rows.length, "deposit"), amount: sumOf(rows.map(({ amount }) => amount)) }]}
      />
    </div>
  );
}

function Files({ visit, month: { start, end } }: { readonly visit: Visit; readonly month: Month }): VNode {
  const files = {
    "Transactions created in the month": "/transactions.csv",
    "Deposits received in the month": "/deposits.csv",
    "Journal of the month": "/journal.csv",
    "General ledger of the month, two lines for each posting": "/general-ledger.csv",
  };
  return (
    <section class="screen">
      <h2>Files</h2>
      <ul>
        {Object.entries(files).map(([name, path]) => (
          <li key={path}>
            <Link to={pathWith(within(visit, path), { start, end })}>{name}, as CSV</Link>
          </li>
        ))}
      </ul>
      <p>
        Each has 10,000 rows at most. The general ledger of a whole month, however many lines, comes from a command:
      </p>
      <Commands>{[`kesc export ledger ${visit.organization?.id ?? "ORG"} --from ${start} --to ${end}`]}</Commands>
    </section>
  );
}
