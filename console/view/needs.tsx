import type { ComponentChildren, VNode } from "preact";

import { effectOf } from "../acts/proposal-words.js";
import type { GetOverviewResponse, ListNeedsAttentionResponse, Supply, Transaction } from "../gen/messages.js";
import { type Visit, within } from "../page.js";
import type { OfCustomer } from "../upstream/rows.js";
import type { ReadingOf } from "../upstream/upstream.js";
import { countText } from "./frame.js";
import { pathOfId } from "./journal.js";
import { Link } from "./link.js";
import { Customer, needWords } from "./lists.js";
import { Table } from "./parts.js";
import { Age, centsOf, Money, sumOf, Text, Unknown, words } from "./values.js";

const ROWS_SHOWN = 10;

export interface NeedReadings {
  readonly overview: ReadingOf<"AdminService/GetOverview">;
  readonly supply: ReadingOf<"BookService/GetSupply">;
  readonly attention: ReadingOf<"AdminService/ListNeedsAttention">;
  /** The first of the proposals that wait for the person. Undefined: none does. */
  readonly proposals: ReadingOf<"AdminService/ListProposals"> | undefined;
  /** The payments with their customers, by their ids. */
  readonly named: ReadonlyMap<string, OfCustomer<Transaction>>;
}

interface Need {
  readonly what: VNode | string;
  readonly path: string;
  readonly why: ComponentChildren;
  readonly payment?: OfCustomer<Transaction> | undefined;
  readonly since?: string | null | undefined;
  /** Null: no amount is known. */
  readonly amount: string | null;
}

/** Returns what needs a person: the largest amount first, and of equal ones the oldest. */
export function needsOf(visit: Visit, readings: NeedReadings): readonly Need[] {
  const { overview, supply, attention, named } = readings;
  const all: readonly Need[] = [
    ...(supply.ok ? needsOfSupply(visit, supply.value.supply) : []),
    ...(attention.ok
      ? needsListed(visit, attention.value, named)
      : [unread(visit, "Flagged payments and unallocated deposits", attention.refusal.text)]),
    ...(overview.ok
      ? needsCounted(visit, overview.value, readings)
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
  { transactions, deposits, flags, held_rail_accounts, waiting_payouts }: ListNeedsAttentionResponse,
  named: NeedReadings["named"],
): readonly Need[] {
  const flagsOf = new Map(flags.map(({ transaction_id: id, open_flags }) => [id, open_flags]));
  return [
    ...transactions.map((row) => ({
      payment: named.get(row.id),
      what: `${row.type === "mint" ? "Mint" : "Redeem"} …${row.id.slice(-4)}`,
      path: pathOfId(visit, row.id),
      why: needWords(row, flagsOf.get(row.id)),
      since: row.created_at,
      amount: row.amount,
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
    ...waiting_payouts.map(({ sha256, problem, approved_at, amount }) => ({
      what: `File of payouts ${sha256.slice(0, 8)}…`,
      path: within(visit, `/payouts/${sha256}`),
      why: <Text>{problem ?? ""}</Text>,
      since: approved_at,
      amount,
    })),
  ];
}

function needsCounted(
  visit: Visit,
  { old_open_payments: old, proposals_for_me: mine, oldest_open_payment_at }: GetOverviewResponse,
  { supply, proposals }: NeedReadings,
): readonly Need[] {
  const waiting = proposalsOf(visit, proposals);
  const groups = supply.ok ? supply.value.supply.backing?.open_payments : undefined;
  const amounts = groups?.filter(({ age }) => age !== "under_one_hour").map(({ amount }) => amount);
  const counted = [
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
      why: FOR_YOU,
      amount: null,
    },
  ].filter(({ count }) => count.count > 0);
  return waiting.length === mine.count ? [...counted.filter(({ count }) => count !== mine), ...waiting] : counted;
}

const FOR_YOU = "waiting for your approval";

/** The proposals by name. An approver of several organizations has others, too. */
function proposalsOf(visit: Visit, proposals: NeedReadings["proposals"]): readonly Need[] {
  const rows = proposals?.ok === true ? proposals.value.proposals : [];
  return rows
    .filter(({ organization_id: id }) => id === null || id === visit.organization?.id)
    .map((proposal) => ({
      what: <Text>{effectOf(proposal)}</Text>,
      path: within(visit, `/approvals/${proposal.id}`),
      why: FOR_YOU,
      since: proposal.proposed_at,
      amount: null,
    }));
}

export function Needs({ visit, needs }: { readonly visit: Visit; readonly needs: readonly Need[] }): VNode {
  const more = needs.length - ROWS_SHOWN;
  return (
    <section>
      <h2>Needs a person</h2>
      <Table
        columns={[
          { head: "What", cell: ({ what, path }) => <Link to={path}>{what}</Link>, isTitle: true },
          {
            head: "Customer",
            cell: ({ payment }) => (payment === undefined ? null : <Customer visit={visit} row={payment} />),
          },
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
