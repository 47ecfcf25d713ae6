import type { VNode } from "preact";

import { Remedies } from "../acts/remedies.js";
import type {
  MovementTotals,
  ReconcileStatementResponse,
  StatementDifference,
  StatementDifferences,
  StatementTie,
} from "../gen/messages.js";
import type { Visit } from "../page.js";
import { Short } from "../view/journal.js";
import { type Column, FigureList, SumTable, Table } from "../view/parts.js";
import { Day, lessOf, Money, sumOf, Text, Time } from "../view/values.js";
import { BankSection } from "./bank.js";
import { LostNightSection } from "./night.js";

interface ComparedProps {
  readonly visit: Visit;
  readonly found: ReconcileStatementResponse;
  /** Empty for a bank. */
  readonly rail: string;
}

type Who = "rail" | "bank";

/** What a statement and the book say of the same time, with the form that ends each difference. */
export function Compared({ visit, found, rail }: ComparedProps): VNode {
  const count = found.differences.reduce((sum, each) => sum + each.count, 0);
  const who: Who = found.place === null ? "rail" : "bank";
  return (
    <>
      <p class="lead">
        From <Time>{found.start}</Time> to <Time>{found.end}</Time>.
      </p>
      <div class={count === 0 && found.doubts.length === 0 ? "verdict" : "verdict bad"}>
        <h2>
          {count === 0
            ? `All ${found.matched.count.toLocaleString("en")} movements agree`
            : `${count.toLocaleString("en")} movements differ, ${found.matched.count.toLocaleString("en")} agree`}
        </h2>
        {found.doubts.map((doubt) => (
          <p key={doubt}>{doubt}</p>
        ))}
      </div>
      {found.place !== null ? (
        <BankSection visit={visit} of={found.place} isDoubtful={found.doubts.length > 0} />
      ) : found.tie === null ? (
        <p>The rail has not reported a balance yet, so the sums of both sides cannot be tied.</p>
      ) : (
        <Tie tie={found.tie} />
      )}
      <Movements found={found} who={who} />
      {who === "bank" ? null : <LostNightSection visit={visit} rail={rail} night={found.lost_night} />}
      {orderOf(who).map(([kind, title, words]) => {
        const group = found.differences.find((each) => each.kind === kind);
        return group === undefined ? null : <Group key={kind} {...{ visit, group, title, words }} />;
      })}
    </>
  );
}

const orderOf = (who: Who) =>
  [
    ["amount_differs", "Differing", `Both have the receipt, with another amount. Ask the ${who} which one is right.`],
    ["missing_in_ledger", "Missing in the book", `The ${who} moved shillings that the book does not have.`],
    ["missing_on_rail", `Missing at the ${who}`, "The book has a movement that the statement does not have."],
    [
      "double",
      "Twice in the statement",
      `The statement has the receipt twice, and the book takes it once. Ask the ${who}.`,
    ],
  ] as const;

function netOf({ amount_in, amount_out }: MovementTotals): string {
  return lessOf(amount_in, amount_out);
}

type Line = readonly [name: string, onRail: string, booked: string];

/** What moved by each side. */
function Movements({
  found: { on_rail, booked, charges, charges_matched, at_the_edge, not_completed },
  who,
}: {
  readonly found: ReconcileStatementResponse;
  readonly who: Who;
}): VNode {
  const rows: readonly Line[] = [
    ["Came in", on_rail.amount_in, booked.amount_in],
    ["Went out", on_rail.amount_out, booked.amount_out],
    ["Together", netOf(on_rail), netOf(booked)],
    [`Charges of the ${who}`, netOf(charges), netOf(charges_matched)],
  ];
  const columns: readonly Column<Line>[] = [
    { head: "Movements in KES", cell: ([name]) => name },
    { head: "Statement", cell: ([, onRail]) => <Money>{onRail}</Money>, isMoney: true },
    { head: "Book", cell: ([, , inBook]) => <Money>{inBook}</Money>, isMoney: true },
    { head: "Difference", cell: ([, onRail, inBook]) => <Money>{lessOf(onRail, inBook)}</Money>, isMoney: true },
  ];
  return (
    <section>
      <h2>What moved</h2>
      <Table columns={columns} rows={rows} empty="" />
      <p class="advice">
        {at_the_edge === 0
          ? ""
          : `${String(at_the_edge)} movements of the book began before this time and are not compared. `}
        {not_completed === 0 ? "" : `${String(not_completed)} rows of the statement are not completed.`}
      </p>
    </section>
  );
}

/** The sums of both sides at one moment, with all that explains their difference. */
function Tie({ tie }: { readonly tie: StatementTie }): VNode {
  const seen: readonly (readonly [name: string, amount: string, at?: VNode])[] = [
    ...tie.rail_balances.map(({ rail, name, available }) => [`${rail}: ${name}`, available] as const),
    ...tie.reserve_holdings.map(({ place, amount, as_of_day }) => [place, amount, <Day>{as_of_day}</Day>] as const),
  ];
  return (
    <section>
      <h2>The tie</h2>
      <p>
        At <Time>{tie.time}</Time>, the moment of the rail’s last balance.
      </p>
      <FigureList
        figures={[
          ["At the rail and in other places", sumOf(seen.map(([, amount]) => amount))],
          ["Owed by the book", tie.owed],
          ["Difference", tie.difference],
        ]}
      />
      <SumTable
        rows={[
          ...seen,
          ["Shortfall that the book knows", tie.shortfall],
          ["Charges that nobody has paid in for", tie.charges],
          ["Under way at that moment", tie.under_way],
          ["The differences below", tie.differences],
        ]}
        total={["Not explained", tie.not_explained]}
      />
    </section>
  );
}

interface GroupProps {
  readonly visit: Visit;
  readonly group: StatementDifferences;
  readonly title: string;
  readonly words: string;
}

function Group({ visit, group: { count, differences }, title, words }: GroupProps): VNode {
  const columns: readonly Column<StatementDifference>[] = [
    {
      head: "Receipt",
      cell: ({ receipt, is_charge }) =>
        receipt === null ? <span class="none">none</span> : <Text>{is_charge ? `${receipt} (charge)` : receipt}</Text>,
    },
    { head: "Kind", cell: ({ row_kind }) => <Text>{row_kind?.replaceAll("_", " ") ?? "none"}</Text>, isMinor: true },
    { head: "When", cell: ({ on_rail, booked }) => <Time>{(on_rail ?? booked)?.time ?? null}</Time> },
    {
      head: "About",
      cell: ({ transaction_id, account_id }) => <Short visit={visit} id={transaction_id ?? account_id} />,
      isMinor: true,
    },
    { head: "Statement", cell: ({ on_rail }) => <Money>{on_rail?.amount ?? null}</Money>, isMoney: true },
    { head: "Book", cell: ({ booked }) => <Money>{booked?.amount ?? null}</Money>, isMoney: true },
    { head: "What to do", cell: (row) => <Remedies visit={visit} row={row} /> },
  ];
  return (
    <section>
      <h2>
        {title}: {count.toLocaleString("en")}
      </h2>
      <p>{words}</p>
      <Table columns={columns} rows={differences} empty="" />
      {count > differences.length ? (
        <p>
          And {(count - differences.length).toLocaleString("en")} more: <code>kesc reconcile</code> lists them all.
        </p>
      ) : null}
    </section>
  );
}
