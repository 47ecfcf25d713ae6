import type { ComponentChildren, VNode } from "preact";

import type { GetOverviewResponse, ListNeedsAttentionResponse, Supply } from "../gen/messages.js";
import { type Page, type View, type Visit, within } from "../page.js";
import type { ReadingOf } from "../upstream/upstream.js";
import { AgeOfFigures, type Coverage, coverageOf, Explained, openSumsOf } from "../view/coverage.js";
import { countText, totalOf } from "../view/frame.js";
import { pathOfId } from "../view/journal.js";
import { Link } from "../view/link.js";
import { TransactionList } from "../view/lists.js";
import { Refused, Section, Table } from "../view/parts.js";
import { Age, ageText, centsOf, decimalOf, Money, sumOf, Text, Unknown, words } from "../view/values.js";

/** As many of each list are compared by their amounts. */
const ROWS_READ = 50;
const ROWS_SHOWN = 10;
const NEWEST = 5;

/** Are we whole? And what needs a person, the most money first? */
export const todayPage: Page = {
  path: "/:org",
  async show(visit) {
    const [overview, supply, attention, newest] = await Promise.all([
      visit.overview,
      visit.read("BookService/GetSupply", {}),
      visit.read("AdminService/ListNeedsAttention", {
        organization_id: visit.organization?.id,
        page_size: ROWS_READ,
      }),
      visit.read("TransactionService/ListTransactions", { page_size: NEWEST }),
    ]);
    return overview && viewOf(visit, { overview, supply, attention, newest });
  },
};

interface Readings {
  readonly overview: ReadingOf<"AdminService/GetOverview">;
  readonly supply: ReadingOf<"BookService/GetSupply">;
  readonly attention: ReadingOf<"AdminService/ListNeedsAttention">;
  readonly newest: ReadingOf<"TransactionService/ListTransactions">;
}

function viewOf(visit: Visit, readings: Readings): View {
  const { overview, supply, newest } = readings;
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
          reserve is. <Link to={toSupply}>Record a reserve balance</Link>
        </p>
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
    </div>
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

interface Need {
  readonly what: VNode | string;
  readonly path: string;
  readonly why: ComponentChildren;
  readonly since?: string | null | undefined;
  /** Null: no amount is known. */
  readonly amount: string | null;
}

/** What needs a person: the largest amount first, and of equal ones the oldest. */
function needsOf(visit: Visit, { overview, supply, attention }: Readings): readonly Need[] {
  const all = [
    ...(supply.ok ? needsOfSupply(visit, supply.value.supply) : []),
    ...(attention.ok
      ? needsListed(visit, attention.value)
      : [unread(visit, "Flagged payments and unallocated deposits", attention.refusal.text)]),
    ...(overview.ok
      ? needsCounted(visit, overview.value, supply)
      : [unread(visit, "Open payments and proposals for you", overview.refusal.text)]),
  ];
  const since = (need: Need): string => need.since ?? "9";
  return all.toSorted((one, other) => {
    const [more, less] = [other.amount, one.amount].map((amount) => (amount === null ? -1n : centsOf(amount)));
    if (more !== less) return (more ?? 0n) > (less ?? 0n) ? 1 : -1;
    return since(one) < since(other) ? -1 : 1;
  });
}

function unread(visit: Visit, what: string, text: string): Need {
  const why = (
    <>
      <Unknown />: <Text>{text}</Text>
    </>
  );
  return { what, path: visit.path, why, amount: null };
}

function needsOfSupply(visit: Visit, { shortfall, charges }: Supply): readonly Need[] {
  const path = within(visit, "/supply");
  return [
    { what: "Shortfall", path, why: "cover it, or recover it from accounts", amount: shortfall },
    { what: "Rail charges", path, why: "fund them: users never bear charges", amount: charges },
  ].filter(({ amount }) => centsOf(amount) > 0n);
}

function needsListed(
  visit: Visit,
  { transactions, deposits, flags, held_rail_accounts }: ListNeedsAttentionResponse,
): readonly Need[] {
  const flagsOf = new Map(flags.map(({ transaction_id: id, open_flags }) => [id, open_flags]));
  return [
    ...transactions.map(({ id, type, amount, created_at }) => ({
      what: `${type === "mint" ? "Mint" : "Redeem"} …${id.slice(-4)}`,
      path: pathOfId(visit, id),
      why: (flagsOf.get(id) ?? []).map(words).join(", "),
      since: created_at,
      amount,
    })),
    ...deposits.map(({ id, reason, status, amount, created_at }) => ({
      what: `Unallocated deposit …${id.slice(-4)}`,
      path: pathOfId(visit, id),
      why: words(reason ?? status),
      since: created_at,
      amount,
    })),
    ...held_rail_accounts.map(({ rail, payouts_note: note, updated_at }) => ({
      what: `Payouts on ${rail} are held`,
      path: within(visit, "/attention"),
      why: note,
      since: updated_at,
      amount: null,
    })),
  ];
}

function needsCounted(
  visit: Visit,
  { old_open_payments: old, proposals_for_me: mine, oldest_open_payment_at }: GetOverviewResponse,
  supply: Readings["supply"],
): readonly Need[] {
  const groups = supply.ok ? supply.value.supply.backing?.open_payments : undefined;
  const amounts = groups?.filter(({ age }) => age !== "under_one_hour").map(({ amount }) => amount);
  return [
    {
      count: old,
      what: `${countText(old)} open ${old.count === 1 ? "payment" : "payments"}`,
      path: within(visit, "/attention"),
      why: "open for more than an hour",
      since: oldest_open_payment_at,
      amount: amounts === undefined ? null : sumOf(amounts),
    },
    {
      count: mine,
      what: `${countText(mine)} ${mine.count === 1 ? "proposal" : "proposals"}`,
      path: within(visit, "/approvals"),
      why: "waiting for your approval",
      amount: null,
    },
  ].filter(({ count }) => count.count > 0);
}

function Needs({ visit, needs }: { readonly visit: Visit; readonly needs: readonly Need[] }): VNode {
  const more = needs.length - ROWS_SHOWN;
  return (
    <section>
      <h2>Needs a person</h2>
      <Table
        columns={[
          { head: "What", cell: ({ what, path }) => <Link to={path}>{what}</Link> },
          { head: "Why", cell: ({ why }) => why },
          { head: "Waiting for", cell: ({ since }) => (since ? <Age since={since} /> : null) },
          { head: "KES at risk", cell: ({ amount }) => <Money>{amount}</Money>, isMoney: true },
        ]}
        rows={needs.slice(0, ROWS_SHOWN)}
        empty=""
      />
      {more <= 0 ? null : (
        <p>
          <Link to={within(visit, "/attention")}>{more} more</Link>
        </p>
      )}
    </section>
  );
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
