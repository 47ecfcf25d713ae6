import type { ComponentChildren, VNode } from "preact";

import { ActLink } from "../acts/act-links.js";
import type { Supply, Transaction } from "../gen/messages.js";
import { type Page, type View, type Visit, within } from "../page.js";
import { type OfCustomer, withCustomers } from "../upstream/rows.js";
import type { ReadingOf } from "../upstream/upstream.js";
import { AgeOfFigures, type Coverage, coverageOf, Explained, openSumsOf } from "../view/coverage.js";
import { countText, totalOf } from "../view/frame.js";
import { Link } from "../view/link.js";
import { TransactionList } from "../view/lists.js";
import { type NeedReadings, Needs, needsOf } from "../view/needs.js";
import { Refused, Section } from "../view/parts.js";
import { Age, ageText, decimalOf, Money, sumOf, Unknown } from "../view/values.js";

/** As many of each list are compared by their amounts. */
const ROWS_READ = 50;
const NEWEST = 5;
/** More proposals are a number, and a link to their list. */
const PROPOSALS_NAMED = 4;

/** Are we whole? And what needs a person, the most money first? */
export const todayPage: Page = {
  path: "/:org",
  async show(visit) {
    const [overview, supply, attention, newest, proposals] = await Promise.all([
      visit.overview,
      visit.read("BookService/GetSupply", {}),
      visit.read("AdminService/ListNeedsAttention", {
        page_size: ROWS_READ,
      }),
      visit.read("TransactionService/ListTransactions", { page_size: NEWEST }),
      proposalsFor(visit),
    ]);
    const rows = [attention, newest].flatMap((each) => (each.ok ? each.value.transactions : []));
    const read = await withCustomers(visit, { ok: true, value: { rows, next: null } });
    const named = new Map((read.ok ? read.value.rows : []).map((row) => [row.id, row]));
    return overview && viewOf(visit, { overview, supply, attention, newest, proposals, named });
  },
};

/** Reads the proposals that wait for the person. Undefined if none does. */
async function proposalsFor(visit: Visit): Promise<NeedReadings["proposals"]> {
  const overview = await visit.overview;
  if (overview?.ok !== true || overview.value.proposals_for_me.count === 0) return undefined;
  return visit.read("AdminService/ListProposals", { for_me: true, page_size: PROPOSALS_NAMED });
}

interface Readings extends NeedReadings {
  readonly newest: ReadingOf<"TransactionService/ListTransactions">;
  /** The payments with their customers, by their ids. */
  readonly named: ReadonlyMap<string, OfCustomer<Transaction>>;
}

function viewOf(visit: Visit, readings: Readings): View {
  const { overview, supply, newest, named } = readings;
  const needs = needsOf(visit, readings);
  return {
    title: "Today",
    showsBook: true,
    body: (
      <>
        {supply.ok ? (
          <Verdict visit={visit} supply={supply.value.supply} isQuiet={needs.length === 0} />
        ) : (
          <div class="verdict note">
            <h1>Unknown whether the reserve covers what is owed</h1>
            <Refused refusal={supply.refusal} />
            <p>
              <Link to={visit.path}>Try again</Link>
            </p>
          </div>
        )}
        {needs.length === 0 ? null : <Needs visit={visit} needs={needs} />}
        <Figures visit={visit} overview={overview} supply={supply} />
        <Section title="Newest payments" reading={newest} retry={visit.path}>
          {({ transactions }) => (
            <>
              <TransactionList
                visit={visit}
                rows={transactions.map((row) => named.get(row.id) ?? row)}
                empty="No payment yet. The first mint makes one: see docs/integrate.md."
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

interface VerdictProps {
  readonly visit: Visit;
  readonly supply: Supply;
  /** Whether it is known that nothing needs a person. */
  readonly isQuiet: boolean;
}

/** One figure: what was seen of the reserve, less all that is owed. */
function Verdict({ visit, supply, isQuiet }: VerdictProps): VNode {
  const coverage = coverageOf(supply);
  const toSupply = within(visit, "/supply");
  if (coverage === undefined) {
    return (
      <div class="verdict note">
        <h1>Unknown whether the reserve covers what is owed</h1>
        <p>
          <Money>{supply.owed}</Money> KES are owed. No rail reported a balance, and no figure recorded says where the
          reserve is. <Link to={toSupply}>Supply and reserve</Link>
        </p>
        <RecordReserve visit={visit} />
      </div>
    );
  }
  const { difference, seen, owed } = coverage;
  const { tone, sentence } = sayingOf(coverage);
  return (
    <div class={`verdict ${tone}`}>
      <h1>
        <Link to={toSupply}>{sentence}</Link>
      </h1>
      <p class="figure">
        <Money>{decimalOf(difference)}</Money> <small>KES difference</small>
      </p>
      <p>
        <Money>{seen}</Money> KES seen, <Money>{owed}</Money> KES owed. <AgeOfFigures coverage={coverage} />
        {isQuiet ? " Nothing needs a person." : ""}
      </p>
      {tone === "good" ? null : <Explained visit={visit} coverage={coverage} />}
      <RecordReserve visit={visit} />
    </div>
  );
}

/** What a controller does first each day. Nothing for a person who lacks the role. */
function RecordReserve({ visit }: Pick<VerdictProps, "visit">): VNode {
  return (
    <p>
      <ActLink visit={visit} name="reserve" linked={{}} />
    </p>
  );
}

/** An unknown is never right: an old figure, and shillings that nothing explains. */
function sayingOf({ difference, unexplained, shortfall, inFlight, isOld, ageSeconds }: Coverage): {
  readonly tone: "good" | "wait" | "bad";
  readonly sentence: string;
} {
  if (difference < 0n && (unexplained < 0n || shortfall < 0n))
    return { tone: "bad", sentence: "The reserve does not cover all that is owed" };
  if (difference < 0n) {
    const why = inFlight === 0n ? "Rail charges explain it" : "Payments in flight may explain it";
    return { tone: "wait", sentence: `Less was seen than is owed. ${why}` };
  }
  if (isOld)
    return { tone: "wait", sentence: `The reserve covers all that is owed, by figures ${ageText(ageSeconds)} old` };
  if (unexplained !== 0n || shortfall !== 0n)
    return { tone: "wait", sentence: "The reserve covers all that is owed, but the difference is not explained" };
  const moves = inFlight === 0n ? "" : ", with payments in flight";
  return { tone: "good", sentence: `The reserve covers all that is owed${moves}` };
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

/** Each figure has its age, and leads to the list behind it. */
function Figures({
  visit,
  overview: counts,
  supply,
}: Pick<Readings, "overview" | "supply"> & { readonly visit: Visit }): VNode {
  const overview = counts.ok ? counts.value : undefined;
  const backing = supply.ok ? supply.value.supply.backing : undefined;
  const open = backing ? openSumsOf(backing) : undefined;
  return (
    <ul class="figures" aria-label="Figures">
      <Figure
        name="In circulation"
        to={within(visit, "/supply")}
        value={overview ? <Money>{sumOf([overview.sums.available, overview.sums.held])}</Money> : <Unknown />}
        unit="KESC"
        age={overview?.as_of_time ? <>as of {<Age since={overview.as_of_time} />} ago</> : <Unknown />}
      />
      <Figure
        name="Open payments"
        to={`${within(visit, "/transactions")}?status=pending&status=processing`}
        value={open ? countText({ count: open.count, more: open.more }) : <Unknown />}
        age={
          overview === undefined ? (
            <Unknown />
          ) : overview.oldest_open_payment_at === null ? (
            "none is open"
          ) : (
            <>
              oldest: <Age since={overview.oldest_open_payment_at} />
            </>
          )
        }
      />
      <Figure
        name="Unallocated deposits"
        to={within(visit, "/attention")}
        value={overview ? <Money>{overview.sums.unallocated}</Money> : <Unknown />}
        unit="KES"
        age={overview ? `waiting: ${countText(totalOf([overview.waiting_deposits]))}` : <Unknown />}
      />
    </ul>
  );
}
