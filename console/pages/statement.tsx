import type { StatementLine } from "../gen/messages.js";
import type { Page, Visit } from "../page.js";
import { pathOfId, RowLink, Short } from "../view/journal.js";
import { Link, pathWith } from "../view/link.js";
import { type Column, More, Section, Table } from "../view/parts.js";
import { dayText, Money, Time, words } from "../view/values.js";

const DAY_MILLIS = 86_400_000;
const DAYS = 30;
const ROWS = 100;
// The server refuses an end that is not 60 seconds ago: another row could still belong to it.
const SETTLED_MILLIS = 61_000;
const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/** What came in and went out, line by line, from the opening to the closing balance? */
export const statementPage: Page = {
  path: "/:org/accounts/:acc/statement",
  async show(visit) {
    const { path, query, ids } = visit;
    const now = Date.now();
    const day = (name: string, otherwise: number): string => {
      const asked = query.get(name) ?? "";
      return DAY.test(asked) ? asked : dayText(new Date(otherwise));
    };
    const period = { start: day("start", now - DAYS * DAY_MILLIS), end: day("end", now) };
    const account_id = ids["acc"] ?? "";
    const isToday = period.end === dayText(new Date(now));
    // The end of the first page is that of all others.
    const end = isToday ? (query.get("until") ?? new Date(now - SETTLED_MILLIS).toISOString()) : period.end;
    const page_token = query.get("page") ?? "";
    const request = { account_id, start: period.start, end, page_size: ROWS, page_token };
    const reading = await visit.read("BookService/GetStatement", request);
    if (!reading.ok && reading.refusal.reason === "ACCOUNT_NOT_FOUND") return undefined;
    return {
      title: "Statement",
      body: (
        <>
          <h1>Statement</h1>
          <p>
            <Link to={pathOfId(visit, account_id)}>To the account</Link>
          </p>
          <form method="get" action={path} class="filters">
            <label>
              From the day
              <input type="date" name="start" value={period.start} required />
            </label>
            <label>
              To the end of the day
              <input type="date" name="end" value={period.end} required />
            </label>
            <button type="submit">Show</button>
          </form>
          <Section title="Lines, oldest first" reading={reading} retry={path}>
            {({ lines, opening_balance, closing_balance, start, end: until, next_page_token: token }) => (
              <>
                <p>
                  <Money>{opening_balance}</Money> KESC at the beginning, <Time>{start}</Time>.{" "}
                  <Money>{closing_balance}</Money> KESC at the end, <Time>{until}</Time>.
                </p>
                <Table
                  columns={columnsOf(visit)}
                  rows={lines}
                  empty="No line in this period, or in the rows read so far."
                />
                <More
                  to={token === null ? undefined : pathWith(path, { ...period, until, page: token })}
                  isEmpty={lines.length === 0}
                  word="Newer"
                />
              </>
            )}
          </Section>
        </>
      ),
    };
  },
};

function columnsOf(visit: Visit): readonly Column<StatementLine>[] {
  return [
    { head: "When", cell: ({ recorded_at }) => <Time>{recorded_at}</Time> },
    {
      head: "Row",
      cell: ({ sequence }) => (sequence === null ? null : <RowLink visit={visit} sequence={sequence} />),
    },
    { head: "What", cell: ({ type }) => words(type) },
    {
      head: "Payment",
      cell: ({ transaction_id: id }) => (id === null ? null : <Short visit={visit} id={id} />),
      isMinor: true,
    },
    { head: "Receipt", cell: ({ rail_receipt: text }) => text, isMinor: true },
    { head: "In", cell: ({ amount_in }) => <Money>{amount_in}</Money>, isMoney: true },
    { head: "Out", cell: ({ amount_out }) => <Money>{amount_out}</Money>, isMoney: true },
    { head: "Balance, KESC", cell: ({ balance }) => <Money>{balance}</Money>, isMoney: true },
  ];
}
