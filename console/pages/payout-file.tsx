import type { VNode } from "preact";

import { Acts } from "../acts/act-links.js";
import { csvOf, fieldsOf } from "../export.js";
import type { PayoutRow, PayoutRowCount, Payouts } from "../gen/messages.js";
import type { Page, Visit } from "../page.js";
import { pageOf, type ReadRows } from "../upstream/rows.js";
import { Short } from "../view/journal.js";
import { Link, pathWith } from "../view/link.js";
import { type Column, Facts, More, Refused, Section, Table } from "../view/parts.js";
import { PayoutPreview } from "../view/payout-preview.js";
import { Brief, Id, Money, moneyText, Status, Text, Time } from "../view/values.js";

const PATH = "/:org/payouts/:sha";
const ROWS = 100;
/** Of one file. */
const FILE_ROWS_MAX = 50_000;

function readerOf(visit: Visit): ReadRows<PayoutRow> {
  const sha256 = visit.ids["sha"] ?? "";
  return async (page) =>
    pageOf(await visit.read("AdminService/ListPayoutRows", { sha256, ...page }), ({ rows }) => rows);
}

/** How far is the payment of a file, and what became of each row? */
export const payoutFilePage: Page = {
  path: PATH,
  async show(visit) {
    const { path, query } = visit;
    const sha256 = visit.ids["sha"] ?? "";
    const [reading, counted, rows] = await Promise.all([
      visit.read("AdminService/GetPayouts", { sha256 }),
      visit.read("AdminService/GetPayouts", { sha256, count_rows: true }),
      readerOf(visit)({ page_size: ROWS, page_token: query.get("page") ?? "" }),
    ]);
    if (!reading.ok) {
      if (reading.refusal.reason === "PAYOUTS_NOT_FOUND") return undefined;
      return { title: "Payouts", body: <Refused refusal={reading.refusal} /> };
    }
    const { payouts, preview } = reading.value;
    const isRunning = payouts.state === "running";
    return {
      title: "Payouts",
      // Each row that is paid is new in the book.
      ...(isRunning ? { showsBook: true } : {}),
      body: (
        <>
          <Head file={payouts} />
          <Section title="Rows by state" reading={counted} retry={path}>
            {({ row_counts: counts }) => <Counts counts={counts} />}
          </Section>
          {isRunning ? <Acts visit={visit} acts={[["stop-file", { sha256 }]]} /> : null}
          <Section title="Rows" reading={rows} retry={path}>
            {({ rows: shown, next }) => (
              <>
                <Rows visit={visit} rows={shown} />
                <More
                  to={next === null ? undefined : pathWith(path, { page: next })}
                  isEmpty={shown.length === 0}
                  word="Next rows"
                />
                <p class="export">
                  <Link to={`${path}.csv`}>Download the outcomes as CSV</Link>{" "}
                  <small>All rows, without numbers of phones. The console’s log notes who exports how many rows.</small>
                </p>
              </>
            )}
          </Section>
          <section>
            <h2>As it was proposed</h2>
            <PayoutPreview preview={preview} />
          </section>
        </>
      ),
    };
  },
};

function Head({ file }: { readonly file: Payouts }): VNode {
  const { sha256, rail, state, count, amount, left_out, approved_at, stopped_at, problem } = file;
  return (
    <>
      <h1>
        Payouts over {rail} <Status>{state}</Status>
      </h1>
      {problem === null ? null : (
        <div class="verdict wait" role="status">
          <h2>Its rows wait</h2>
          <p>
            <Text>{problem}</Text>
          </p>
        </div>
      )}
      <Facts
        facts={{
          Pays: `${count.toLocaleString("en")} rows, together ${moneyText(amount)} KES`,
          "Left out": `${left_out.toLocaleString("en")} rows with an error`,
          Approved: approved_at === null ? "not yet" : <Time>{approved_at}</Time>,
          Stopped: stopped_at === null ? null : <Time>{stopped_at}</Time>,
          "SHA-256": <Id>{sha256}</Id>,
        }}
      />
    </>
  );
}

function Counts({ counts }: { readonly counts: readonly PayoutRowCount[] }): VNode {
  const columns: readonly Column<PayoutRowCount>[] = [
    { head: "State", cell: ({ state }) => <Status>{state}</Status> },
    { head: "Rows", cell: ({ count }) => count.toLocaleString("en") },
  ];
  return (
    <div class="narrow">
      <Table columns={columns} rows={counts} empty="It has no rows." />
    </div>
  );
}

function Rows({ visit, rows }: { readonly visit: Visit; readonly rows: readonly PayoutRow[] }): VNode {
  const columns: readonly Column<PayoutRow>[] = [
    { head: "Line", cell: ({ line }) => line.toLocaleString("en"), isTitle: true },
    { head: "State", cell: ({ state }) => <Status>{state}</Status> },
    { head: "Why", cell: ({ reason }) => reason },
    { head: "Account", cell: ({ account_id: id }) => <Short visit={visit} id={id} />, isMinor: true },
    {
      head: "Reference",
      cell: ({ reference }) => (reference === null ? null : <Brief>{reference}</Brief>),
      isMinor: true,
    },
    { head: "Payment", cell: ({ transaction_id: id }) => <Short visit={visit} id={id} /> },
    { head: "Receipt", cell: ({ rail_receipt: receipt }) => receipt, isMinor: true },
    { head: "KES", cell: ({ amount }) => <Money>{amount}</Money>, isMoney: true },
  ];
  return <Table columns={columns} rows={rows} empty="It has no more rows." />;
}

/** What became of each row, with the columns of `kesc payouts outcomes`. */
export const payoutRowsCsv: Page = {
  path: `${PATH}.csv`,
  isDownload: true,
  show: (visit) =>
    csvOf({
      name: `payouts-${(visit.ids["sha"] ?? "").slice(0, 8)}`,
      rowsMax: FILE_ROWS_MAX,
      read: readerOf(visit),
      columns: fieldsOf<PayoutRow>(
        ...(["line", "state", "reason", "account_id", "amount", "reference", "description"] as const),
        ...(["destination_id", "transaction_id", "rail_receipt"] as const),
      ),
    }),
};
