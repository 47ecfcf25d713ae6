import type { ComponentChildren, VNode } from "preact";

import type { Count, GetOverviewResponse, Supply } from "../gen/messages.js";
import { type Page, type View, type Visit, within } from "../page.js";
import type { ReadingOf } from "../upstream/upstream.js";
import { countText, totalOf } from "../view/frame.js";
import { Link } from "../view/link.js";
import { TransactionList } from "../view/lists.js";
import { Refused, Section } from "../view/parts.js";
import { Age, ageText, Money, moneyText, sumOf, Time, Unknown } from "../view/values.js";

/** Is everything all right, and if not, where? */
export const todayPage: Page = {
  path: "/:org",
  async show(visit) {
    const [overview, supply, newest] = await Promise.all([
      visit.overview,
      visit.read("BookService/GetSupply", {}),
      visit.read("TransactionService/ListTransactions", { page_size: 8 }),
    ]);
    return overview && viewOf(visit, { overview, supply, newest });
  },
};

interface Readings {
  readonly overview: ReadingOf<"AdminService/GetOverview">;
  readonly supply: ReadingOf<"BookService/GetSupply">;
  readonly newest: ReadingOf<"TransactionService/ListTransactions">;
}

function viewOf(visit: Visit, { overview, supply, newest }: Readings): View {
  return {
    title: "Today",
    showsBook: true,
    body: (
      <>
        {overview.ok ? (
          <Verdict visit={visit} overview={overview.value} supply={supply} />
        ) : (
          <NoVerdict reading={overview} visit={visit} />
        )}
        <Figures visit={visit} overview={overview} supply={supply} />
        <Section title="Newest payments" reading={newest} retry={visit.path}>
          {({ transactions }) => (
            <>
              <TransactionList
                visit={visit}
                rows={transactions}
                empty="No payment yet. The first mint makes one: see docs/guides/rest.md."
              />
              <p>
                <Link to={within(visit, "/transactions")}>All transactions</Link>
              </p>
            </>
          )}
        </Section>
      </>
    ),
  };
}

function NoVerdict({
  reading,
  visit,
}: {
  readonly reading: ReadingOf<"AdminService/GetOverview">;
  readonly visit: Visit;
}): VNode {
  return (
    <div class="verdict wait">
      <h1>It is unknown what waits for a person</h1>
      {reading.ok ? null : <Refused refusal={reading.refusal} />}
      <p>
        <Link to={visit.path}>Try again</Link>
      </p>
    </div>
  );
}

interface Waiting {
  readonly count: Count;
  readonly one: string;
  readonly many: string;
  readonly path: string;
  readonly tone: "bad" | "wait";
  readonly detail?: ComponentChildren;
}

/** What waits for a person, the most urgent first. */
function waitingOf(visit: Visit, overview: GetOverviewResponse): readonly Waiting[] {
  const attention = within(visit, "/attention");
  const { oldest_open_payment_at: oldest } = overview;
  const all: readonly Waiting[] = [
    {
      count: overview.flagged_transactions,
      one: "payment needs a person",
      many: "payments need a person",
      path: attention,
      tone: "bad",
    },
    {
      count: overview.old_open_payments,
      one: "payment is open for more than an hour",
      many: "payments are open for more than an hour",
      path: attention,
      tone: "wait",
      detail:
        oldest === null ? undefined : (
          <>
            , the oldest since <Time>{oldest}</Time>
          </>
        ),
    },
    {
      count: overview.waiting_deposits,
      one: "deposit belongs to nobody yet",
      many: "deposits belong to nobody yet",
      path: attention,
      tone: "wait",
    },
    {
      count: overview.proposals_for_me,
      one: "proposal waits for your approval",
      many: "proposals wait for your approval",
      path: within(visit, "/approvals"),
      tone: "wait",
    },
  ];
  return all.filter(({ count }) => count.count > 0);
}

interface VerdictProps {
  readonly visit: Visit;
  readonly overview: GetOverviewResponse;
  readonly supply: ReadingOf<"BookService/GetSupply">;
}

/** Says by how much what was seen is less than what is owed. Open payments may explain it. */
function Gap({ visit, supply }: Omit<VerdictProps, "overview">): VNode | null {
  const difference = supply.ok ? supply.value.supply.backing?.difference : undefined;
  if (!difference?.startsWith("-")) return null;
  return (
    <p>
      <Link to={within(visit, "/supply")}>
        The reserve that was seen is {moneyText(difference.slice(1))} KES less than what is owed
      </Link>
      .
    </p>
  );
}

function Verdict({ visit, overview, supply }: VerdictProps): VNode {
  const waiting = waitingOf(visit, overview);
  const [worst, ...others] = waiting;
  const unknown = supply.ok ? null : <p>The figures of the reserve are unknown.</p>;
  if (worst === undefined) {
    const { oldest_open_payment_at: oldest } = overview;
    return (
      <div class="verdict good">
        <h1>{supply.ok ? "Nothing waits for a person" : "Nothing waits for a person, but the reserve is unknown"}</h1>
        <p>
          {oldest === null ? (
            "No payment is open."
          ) : (
            <>
              The oldest open payment is <Age since={oldest} /> old.
            </>
          )}
        </p>
        {unknown}
        <Gap visit={visit} supply={supply} />
      </div>
    );
  }
  return (
    <div class={`verdict ${worst.tone}`}>
      <h1>
        <Link to={worst.path}>{sentenceOf(worst)}</Link>
        {worst.detail}
      </h1>
      {unknown}
      {others.length === 0 ? null : (
        <ul>
          {others.map((each) => (
            <li key={each.many}>
              <Link to={each.path}>{sentenceOf(each)}</Link>
              {each.detail}
            </li>
          ))}
        </ul>
      )}
      <Gap visit={visit} supply={supply} />
    </div>
  );
}

function sentenceOf({ count, one, many }: Waiting): string {
  return `${countText(count)} ${count.count === 1 && !count.more ? one : many}`;
}

interface FigureProps {
  readonly name: string;
  readonly to: string;
  readonly value: ComponentChildren;
  readonly unit?: string;
  readonly age: ComponentChildren;
}

function Figure({ name, to, value, unit, age }: FigureProps): VNode {
  return (
    <li>
      <Link to={to}>
        <span class="name">{name}</span>
        <span class="value">
          {value} {unit === undefined ? null : <small>{unit}</small>}
        </span>
        <span class="age">{age}</span>
      </Link>
    </li>
  );
}

function AsOf({
  overview: { as_of_sequence: sequence, as_of_time: at },
}: {
  readonly overview: GetOverviewResponse;
}): VNode {
  if (sequence === null || at === null) return <>the book has no row</>;
  return (
    <>
      up to row {sequence.toLocaleString("en")}, <Age since={at} /> ago
    </>
  );
}

/** Six figures. Each has its age, and leads to the list behind it. */
function Figures({ visit, overview: counts, supply }: Omit<Readings, "newest"> & { readonly visit: Visit }): VNode {
  const overview = counts.ok ? counts.value : undefined;
  const book = supply.ok ? supply.value.supply : undefined;
  const asOf = overview === undefined ? <Unknown /> : <AsOf overview={overview} />;
  const toSupply = within(visit, "/supply");
  const recorded = book?.backing ? recordedOf(book.backing) : undefined;
  const open = book?.backing?.open_payments.reduce((sum, { count }) => sum + count, 0);
  return (
    <ul class="figures" aria-label="Figures">
      <Figure
        name="In circulation"
        to={toSupply}
        value={
          overview === undefined ? <Unknown /> : <Money>{sumOf([overview.sums.available, overview.sums.held])}</Money>
        }
        unit="KESC"
        age={asOf}
      />
      <Figure
        name="Reserve in the book"
        to={toSupply}
        value={overview === undefined ? <Unknown /> : <Money>{overview.sums.reserve}</Money>}
        unit="KES"
        age={asOf}
      />
      <Figure
        name="Reserve that was seen"
        to={toSupply}
        value={recorded === undefined ? <Unknown /> : <Money>{recorded.sum}</Money>}
        unit="KES"
        age={recorded === undefined ? "no figure recorded" : `the oldest figure is ${ageText(recorded.ageSeconds)} old`}
      />
      <Figure
        name="Open payments"
        to={`${within(visit, "/transactions")}?status=pending&status=processing`}
        value={
          open === undefined ? (
            <Unknown />
          ) : (
            `${open.toLocaleString("en")}${book?.backing?.has_more_open_payments ? "+" : ""}`
          )
        }
        age={
          overview?.oldest_open_payment_at ? (
            <>
              the oldest for <Age since={overview.oldest_open_payment_at} />
            </>
          ) : (
            "none waits"
          )
        }
      />
      <Figure
        name="Of nobody yet"
        to={within(visit, "/attention")}
        value={overview === undefined ? <Unknown /> : <Money>{overview.sums.unallocated}</Money>}
        unit="KES"
        age={overview === undefined ? <Unknown /> : `waiting deposits: ${countText(overview.waiting_deposits)}`}
      />
      <Figure
        name="To approve"
        to={within(visit, "/approvals")}
        value={overview === undefined ? <Unknown /> : countText(totalOf([overview.waiting_proposals]))}
        age={overview === undefined ? <Unknown /> : `${countText(overview.proposals_for_me)} for you`}
      />
    </ul>
  );
}

/** What rails reported and people recorded, and the age of the oldest figure. */
export function recordedOf(
  backing: NonNullable<Supply["backing"]>,
): { readonly sum: string; readonly ageSeconds: number } | undefined {
  const { rail_balances, reserve_holdings, seen: sum } = backing;
  const figures = [...rail_balances.filter(({ currency }) => currency === "KES"), ...reserve_holdings];
  return sum === null ? undefined : { sum, ageSeconds: Math.max(...figures.map((each) => each.age_seconds)) };
}
