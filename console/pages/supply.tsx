import type { VNode } from "preact";

import { Acts } from "../acts/act-links.js";
import type { Backing, Supply } from "../gen/messages.js";
import { type Page, type Visit, within } from "../page.js";
import { AgeOfFigures, coverageOf, Explained } from "../view/coverage.js";
import { Link } from "../view/link.js";
import { type Column, Refused, SumTable, Table } from "../view/parts.js";
import { ageText, centsOf, Day, decimalOf, Money, Status, sumOf, Time, words } from "../view/values.js";
import { Past } from "./account.js";
import { asOfIn } from "./as-of.js";

/** Does what we hold cover what we owe? The page has the figures, and never says "fine". */
export const supplyPage: Page = {
  path: "/:org/supply",
  async show(visit) {
    const asOf = asOfIn(visit.query);
    const reading = await visit.read("BookService/GetSupply", { ...asOf?.fields });
    return {
      title: "Supply and reserve",
      past: asOf?.words,
      body: (
        <>
          <h1>Supply and reserve</h1>
          {reading.ok ? (
            <Figures visit={visit} supply={reading.value.supply} />
          ) : (
            <>
              <Refused refusal={reading.refusal} />
              <p>
                <Link to={visit.path}>Try again</Link>
              </p>
            </>
          )}
          <p>
            <Link to={within(visit, "/supply/days")}>The last 30 days</Link>: in circulation, minted and redeemed, day
            by day.
          </p>
          <Past path={visit.path} asOf={asOf} />
        </>
      ),
    };
  },
};

function Figures({ visit, supply }: { readonly visit: Visit; readonly supply: Supply }): VNode {
  const { backing } = supply;
  return (
    <>
      <Equation visit={visit} supply={supply} />
      {backing === null ? (
        <section>
          <h2>What was recorded</h2>
          <Table
            columns={PLACE_COLUMNS}
            rows={supply.reserve_holdings.map(recordedPlace)}
            empty="No place has a figure for that day or an earlier one."
          />
          <p>The book does not keep what rails reported then.</p>
        </section>
      ) : (
        <>
          <Places visit={visit} supply={supply} backing={backing} />
          <OpenPayments visit={visit} backing={backing} />
          {backing.reserve_rules.length === 0 ? null : <Rules backing={backing} />}
        </>
      )}
    </>
  );
}

interface Line {
  readonly name: string;
  readonly amount: string;
  readonly isSum?: true;
}

/** The book as a table that foots: what is there equals what is owed. */
function Equation({ visit, supply }: { readonly visit: Visit; readonly supply: Supply }): VNode {
  const assets: readonly Line[] = [
    { name: "Reserve in the book", amount: supply.reserve },
    { name: "Shortfall to cover", amount: supply.shortfall },
    { name: "Rail charges, net of funding", amount: supply.charges },
  ];
  const debts: readonly Line[] = [
    { name: "Available to users", amount: supply.available },
    { name: "Held for redemptions", amount: supply.held },
    { name: "Unallocated deposits", amount: supply.unallocated },
  ];
  const [assetSum, debtSum] = [sumOf(assets.map(({ amount }) => amount)), supply.owed];
  const rows: readonly Line[] = [
    ...assets,
    { name: "Total", amount: assetSum, isSum: true },
    ...debts,
    { name: "Owed", amount: debtSum, isSum: true },
  ];
  const columns: readonly Column<Line>[] = [
    { head: "In the book", cell: ({ name, isSum }) => (isSum ? <strong>{name}</strong> : name) },
    {
      head: "KES",
      cell: ({ amount, isSum }) =>
        isSum ? (
          <strong>
            <Money>{amount}</Money>
          </strong>
        ) : (
          <Money>{amount}</Money>
        ),
      isMoney: true,
    },
  ];
  const { as_of_sequence: sequence } = supply;
  return (
    <section class="narrow">
      <h2>What the book says</h2>
      <p>
        {sequence === null ? (
          "The book has no row yet."
        ) : (
          <>
            Up to row{" "}
            <Link to={within(visit, `/journal/row-${String(sequence)}`)}>#{sequence.toLocaleString("en")}</Link>,{" "}
            <Time>{supply.as_of_time}</Time>. In circulation: <Money>{supply.in_circulation}</Money> KESC.
          </>
        )}
      </p>
      <Table columns={columns} rows={rows} empty="" />
      {assetSum === debtSum ? null : (
        <p class="refused bad">The two sums differ. Run kesc verify: the book may be damaged.</p>
      )}
    </section>
  );
}

interface Place {
  readonly name: string;
  readonly amount: string;
  readonly evidence: string;
  readonly age: number;
  readonly of: VNode;
}

export const PLACE_COLUMNS: readonly Column<Place>[] = [
  { head: "Place", cell: ({ name }) => name },
  { head: "As of", cell: ({ of }) => of },
  { head: "Age", cell: ({ age }) => ageText(age), isMinor: true },
  { head: "Evidence", cell: ({ evidence }) => evidence, isMinor: true },
  { head: "KES", cell: ({ amount }) => <Money>{amount}</Money>, isMoney: true },
];

export function recordedPlace(each: Supply["reserve_holdings"][number]): Place {
  return {
    name: `${each.place} (${words(each.kind)})`,
    amount: each.amount,
    evidence: each.evidence,
    age: each.age_seconds,
    of: <Day>{each.as_of_day}</Day>,
  };
}

interface PlacesProps {
  readonly visit: Visit;
  readonly supply: Supply;
  readonly backing: Backing;
}

function Places({ visit, supply, backing }: PlacesProps): VNode {
  const places: readonly Place[] = [
    ...backing.rail_balances.map((each) => ({
      name: `${each.rail}: ${each.name}${each.currency === "KES" ? "" : ` (${each.currency}, not in the sum)`}`,
      amount: each.available,
      evidence: "reported by the rail",
      age: each.age_seconds,
      of: <Time>{each.reported_at}</Time>,
    })),
    ...backing.reserve_holdings.map(recordedPlace),
  ];
  const coverage = coverageOf(supply);
  return (
    <section>
      <h2>What was seen</h2>
      <Table columns={PLACE_COLUMNS} rows={places} empty="No figure recorded. Record where the reserve lies." />
      {coverage === undefined ? null : (
        <>
          <SumTable
            rows={[
              ["Total seen", coverage.seen],
              ["Owed", decimalOf(-centsOf(coverage.owed))],
            ]}
            total={["Difference", decimalOf(coverage.difference)]}
          />
          <h3>What explains the difference</h3>
          <Explained visit={visit} coverage={coverage} />
          <p>
            <AgeOfFigures coverage={coverage} /> A statement of the rail ties them to the shilling:{" "}
            <Link to={within(visit, "/reconciliation")}>Reconciliation</Link>.
          </p>
        </>
      )}
      <Acts visit={visit} acts={ACTS.map((name) => [name, {}])} />
    </section>
  );
}

const ACTS = ["reserve", "record-deposit", "cover"];

function OpenPayments({ visit, backing }: { readonly visit: Visit; readonly backing: Backing }): VNode {
  const columns: readonly Column<Backing["open_payments"][number]>[] = [
    { head: "Direction", cell: ({ type }) => (type === "mint" ? "incoming" : "outgoing") },
    { head: "Age", cell: ({ age }) => words(age) },
    { head: "Oldest", cell: ({ oldest_created_at }) => <Time>{oldest_created_at}</Time>, isMinor: true },
    { head: "Payments", cell: ({ count }) => count.toLocaleString("en"), isMoney: true },
    { head: "KES", cell: ({ amount }) => <Money>{amount}</Money>, isMoney: true },
  ];
  return (
    <section>
      <h2>Open payments</h2>
      <Table columns={columns} rows={backing.open_payments} empty="No payment is open." />
      {backing.has_more_open_payments ? <p>There are more: the oldest 10,000 of each status were counted.</p> : null}
      <p>
        <Link to={`${within(visit, "/transactions")}?status=pending&status=processing`}>All open payments</Link>
      </p>
    </section>
  );
}

function Rules({ backing: { reserve_rules } }: { readonly backing: Backing }): VNode {
  const columns: readonly Column<Backing["reserve_rules"][number]>[] = [
    { head: "Rule", cell: ({ rule }) => words(rule.kind) },
    { head: "Share", cell: ({ rule }) => `${String(rule.share_min ?? 0)} to ${String(rule.share_max ?? 100)} %` },
    { head: "State", cell: ({ state }) => <Status>{state}</Status> },
    { head: "Oldest figure", cell: ({ as_of_day: day }) => (day === null ? null : <Day>{day}</Day>), isMinor: true },
    { head: "KES", cell: ({ amount }) => <Money>{amount}</Money>, isMoney: true },
  ];
  return (
    <section>
      <h2>Rules of the reserve</h2>
      <Table columns={columns} rows={reserve_rules} empty="" />
    </section>
  );
}
