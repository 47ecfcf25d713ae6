import type { VNode } from "preact";

import type { Backing, Supply } from "../gen/messages.js";
import { type Visit, within } from "../page.js";
import { Link } from "./link.js";
import { SumTable } from "./parts.js";
import { ageText, centsOf, decimalOf, Money } from "./values.js";

/** Older figures say little about now. A person records a place once a day. */
const OLD_SECONDS = 172_800;

/** What was seen of the reserve against all that is owed, and what explains the difference. */
export interface Coverage {
  readonly seen: string;
  readonly owed: string;
  /** Below zero if shillings are missing. */
  readonly difference: bigint;
  /** The age of the oldest figure in `seen`. */
  readonly ageSeconds: number;
  readonly isOld: boolean;
  /** Parts of the difference, which may each be zero. */
  readonly shortfall: bigint;
  readonly charges: bigint;
  /** So much payments in flight can explain: the shillings may have moved, and the book waits. */
  readonly inFlight: bigint;
  readonly unexplained: bigint;
  readonly open: OpenSums;
}

/** The payments that are not complete. */
interface OpenSums {
  readonly count: number;
  readonly more: boolean;
  readonly incoming: bigint;
  readonly outgoing: bigint;
}

/** Returns undefined if nobody has seen the reserve, or for a point in the past. */
export function coverageOf({ backing, owed, shortfall, charges }: Supply): Coverage | undefined {
  if (backing === null || backing.seen === null) return undefined;
  const { rail_balances, reserve_holdings, seen } = backing;
  const figures = [...rail_balances.filter(({ currency }) => currency === "KES"), ...reserve_holdings];
  const ageSeconds = Math.max(...figures.map((each) => each.age_seconds));
  const difference = centsOf(seen) - centsOf(owed);
  const known = { shortfall: -centsOf(shortfall), charges: -centsOf(charges) };
  const rest = difference - known.shortfall - known.charges;
  const open = openSumsOf(backing);
  const inFlight = rest < 0n ? maxOf(rest, -open.outgoing) : -maxOf(-rest, -open.incoming);
  const isOld = ageSeconds > OLD_SECONDS;
  return { seen, owed, difference, ageSeconds, isOld, ...known, inFlight, unexplained: rest - inFlight, open };
}

function maxOf(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

export function openSumsOf({ open_payments, has_more_open_payments: more }: Backing): OpenSums {
  const sumOf = (wanted: string): bigint =>
    open_payments.reduce((sum, { type, amount }) => (type === wanted ? sum + centsOf(amount) : sum), 0n);
  const count = open_payments.reduce((sum, each) => sum + each.count, 0);
  return { count, more, incoming: sumOf("mint"), outgoing: sumOf("redeem") };
}

/** A difference as a sum: what explains it, and what nothing explains. */
export function Explained({ visit, coverage }: { readonly visit: Visit; readonly coverage: Coverage }): VNode {
  const { shortfall, charges, inFlight, unexplained, difference, open } = coverage;
  const parts = [
    ["Shortfall to cover", shortfall],
    ["Rail charges, net of funding", charges],
    [<InFlight visit={visit} open={open} />, inFlight],
  ] as const;
  const rows = parts.flatMap(([name, cents]) => (cents === 0n ? [] : [[name, decimalOf(cents)] as const]));
  return (
    <SumTable
      rows={[...rows, ["Not explained", decimalOf(unexplained)]]}
      total={["Difference", decimalOf(difference)]}
    />
  );
}

function InFlight({ visit, open }: { readonly visit: Visit; readonly open: OpenSums }): VNode {
  return (
    <>
      Possibly <Link to={`${within(visit, "/transactions")}?status=pending&status=processing`}>payments in flight</Link>
      : <Money>{decimalOf(open.outgoing)}</Money> out, <Money>{decimalOf(open.incoming)}</Money> in
      {open.more ? ", or more" : ""}
    </>
  );
}

/** The figures are of different moments, and none is of now. */
export function AgeOfFigures({ coverage: { ageSeconds } }: { readonly coverage: Coverage }): VNode {
  return <>The oldest figure is {ageText(ageSeconds)} old: payments since then are not in it.</>;
}
