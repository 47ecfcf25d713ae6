import type { VNode } from "preact";

import { ActLink } from "../acts/act-links.js";
import type { GetOverviewResponse, Payouts, RailAccount } from "../gen/messages.js";
import { type Page, type Visit, within } from "../page.js";
import { withNames } from "../upstream/rows.js";
import { pathOfId } from "../view/journal.js";
import { Link, pathWith } from "../view/link.js";
import { DepositList, TransactionList } from "../view/lists.js";
import { More, Section, Table } from "../view/parts.js";
import { Age, Time } from "../view/values.js";
import { FileList } from "./payouts.js";

const HOUR_MILLIS = 3_600_000;
const ROWS = 50;

/** What needs a person, and why? */
export const attentionPage: Page = {
  path: "/:org/attention",
  async show(visit) {
    const { path, query } = visit;
    const [waiting, open, overview] = await Promise.all([
      visit.read("AdminService/ListNeedsAttention", {
        page_size: ROWS,
        page_token: query.get("page") ?? "",
      }),
      visit.read("TransactionService/ListTransactions", {
        statuses: ["pending", "processing"],
        end: new Date(Date.now() - HOUR_MILLIS).toISOString(),
        page_size: ROWS,
      }),
      visit.overview,
    ]);
    const [flagged, old] = await Promise.all([withNames(visit, waiting), withNames(visit, open)]);
    const oldest = overview?.ok === true ? <Oldest visit={visit} overview={overview.value} /> : null;
    return {
      title: "Needs attention",
      body: (
        <>
          <h1>Needs attention</h1>
          <Section title="Needs review" reading={waiting} retry={path}>
            {({ transactions, deposits, flags, held_rail_accounts: held, waiting_payouts: files, ...page }) => (
              <>
                <HeldPayouts visit={visit} accounts={held} />
                <WaitingFiles visit={visit} files={files} />
                <TransactionList
                  visit={visit}
                  rows={oldestFirst(flagged.ok ? flagged.value.rows : transactions)}
                  hasAge
                  flags={new Map(flags.map(({ transaction_id: id, open_flags }) => [id, open_flags]))}
                  empty="No payment waits for a person."
                />
                <h3>Unallocated deposits</h3>
                <DepositList visit={visit} rows={oldestFirst(deposits)} empty="No deposit waits for a person." />
                <More
                  to={page.next_page_token === null ? undefined : pathWith(path, { page: page.next_page_token })}
                  isEmpty={transactions.length + deposits.length === 0}
                />
              </>
            )}
          </Section>
          <Section title="Open for more than an hour" reading={open} retry={path}>
            {({ transactions, next_page_token: token }) => (
              <>
                {oldest}
                <TransactionList
                  visit={visit}
                  rows={oldestFirst(old.ok ? old.value.rows : transactions)}
                  hasAge
                  empty="No payment is open for so long."
                />
                {token === null ? null : (
                  <p>
                    These are the newest of them.{" "}
                    <Link to={`${within(visit, "/transactions")}?status=pending&status=processing`}>
                      All open payments
                    </Link>
                  </p>
                )}
              </>
            )}
          </Section>
        </>
      ),
    };
  },
};

/** Why the payouts of an account at a rail wait, and who can open them. */
function HeldPayouts({ visit, accounts }: HeldPayoutsProps): VNode | null {
  if (accounts.length === 0) return null;
  return (
    <>
      <h3>Payouts held</h3>
      <Table
        columns={[
          { head: "Rail", cell: ({ rail }) => rail },
          {
            head: "Why",
            cell: ({ payouts, payouts_note: note }) =>
              note ?? visit.meaningOf("HeldReason", payouts === "closed" ? "payouts_closed" : "outcomes_unknown"),
          },
          { head: "Last changed", cell: ({ updated_at }) => <Time>{updated_at}</Time> },
          { head: "Action", cell: ({ rail }) => <ActLink visit={visit} name="open-payouts" linked={{ rail }} /> },
        ]}
        rows={accounts}
        empty=""
      />
      <p>To open payouts takes the role finance or admin.</p>
      <h3>Payments</h3>
    </>
  );
}

function WaitingFiles({ visit, files }: { readonly visit: Visit; readonly files: readonly Payouts[] }): VNode | null {
  if (files.length === 0) return null;
  return (
    <>
      <h3>Files of payouts that wait</h3>
      <FileList visit={visit} rows={files} empty="" />
      <h3>Payments</h3>
    </>
  );
}

interface HeldPayoutsProps {
  readonly visit: Visit;
  readonly accounts: readonly RailAccount[];
}

function Oldest({ visit, overview }: { readonly visit: Visit; readonly overview: GetOverviewResponse }): VNode | null {
  const { oldest_open_payment_id: id, oldest_open_payment_at: at } = overview;
  if (id === null || at === null) return null;
  return (
    <p>
      The oldest open payment is{" "}
      <Link to={pathOfId(visit, id)}>
        <Age since={at} /> old
      </Link>
      .
    </p>
  );
}

function oldestFirst<Row extends { readonly created_at: string }>(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((one, other) => (one.created_at < other.created_at ? -1 : 1));
}
