import type { VNode } from "preact";

import { type Page, type Visit, within } from "../page.js";
import type { ReadingOf } from "../upstream/upstream.js";
import { BarChart, LineChart } from "../view/chart.js";
import { type Coverage, coverageOf } from "../view/coverage.js";
import { Link } from "../view/link.js";
import { type Column, Refused, Table } from "../view/parts.js";
import { ageText, centsOf, Day, decimalOf, Money, Unknown } from "../view/values.js";

type SupplyReading = ReadingOf<"BookService/GetSupply">;

/** The figures of one day in Kenya. Undefined: a read failed. */
interface DayFigures {
  /** Such as "2026-11-21". */
  readonly day: string;
  readonly circulating: bigint | undefined;
  readonly reserve: bigint | undefined;
  readonly minted: bigint | undefined;
  readonly redeemed: bigint | undefined;
}

const DAYS = 30;
const DAY_MILLIS = 86_400_000;
/** Kenya is three hours ahead of UTC all year. */
const AHEAD_MILLIS = 10_800_000;
/** A point in the past must be 60 seconds ago by the clock of the server. */
const PAST_MILLIS = 120_000;
/** Each person has 8 places for lists: docs/fairness.md. */
const AT_ONCE = 4;

/** How did the circulation get where it is? Loads by itself: it has 31 reads. */
export const daysPage: Page = {
  path: "/:org/supply/days",
  async show(visit) {
    const midnights = midnightsBefore(Date.now() - PAST_MILLIS);
    const now = await visit.read("BookService/GetSupply", {});
    const last = now.ok ? now.value.supply.as_of_sequence : null;
    const points = [
      ...midnights.map((at) => ({ as_of_time: new Date(at).toISOString() })),
      last === null ? { as_of_time: new Date(Date.now() - PAST_MILLIS).toISOString() } : { as_of_sequence: last },
    ];
    const readings = await readAll(points, (point) => visit.readPast("BookService/GetSupply", point));
    const days = daysOf(midnights, readings);
    return {
      title: "The last 30 days",
      body: (
        <>
          <h1>The last 30 days</h1>
          <p>
            Days are those of Kenya, and the last one is not over. The figures are at most a minute old.{" "}
            <Link to={within(visit, "/supply")}>Supply and reserve</Link>
          </p>
          <Unread visit={visit} readings={readings} />
          <Circulation days={days} now={now} />
          <Turnover days={days} />
        </>
      ),
    };
  },
};

/** Returns the last 30 midnights in Kenya, oldest first. */
function midnightsBefore(millis: number): readonly number[] {
  const newest = Math.floor((millis + AHEAD_MILLIS) / DAY_MILLIS) * DAY_MILLIS - AHEAD_MILLIS;
  return Array.from({ length: DAYS }, (_, index) => newest - (DAYS - 1 - index) * DAY_MILLIS);
}

/** Reads all of them, 4 at a time, and returns the readings in their order. */
async function readAll<Point, Result>(
  points: readonly Point[],
  read: (point: Point) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const waiting = points.entries();
  const work = async (): Promise<void> => {
    for (const [index, point] of waiting) results[index] = await read(point);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

/** A day has the sums of its end. Its turnover is the difference to the sums of its beginning. */
function daysOf(midnights: readonly number[], readings: readonly SupplyReading[]): readonly DayFigures[] {
  const sums = readings.map((reading) => (reading.ok ? reading.value.supply : undefined));
  return midnights.map((at, index) => {
    const [start, end] = [sums[index], sums[index + 1]];
    return {
      day: new Date(at + AHEAD_MILLIS).toISOString().slice(0, 10),
      circulating: end && centsOf(end.in_circulation),
      reserve: end && centsOf(end.reserve),
      minted: moreOf(start?.minted, end?.minted),
      redeemed: moreOf(start?.redeemed, end?.redeemed),
    };
  });
}

function moreOf(start: string | null | undefined, end: string | null | undefined): bigint | undefined {
  return typeof start === "string" && typeof end === "string" ? centsOf(end) - centsOf(start) : undefined;
}

function Unread({
  visit,
  readings,
}: {
  readonly visit: Visit;
  readonly readings: readonly SupplyReading[];
}): VNode | null {
  const failed = readings.filter((reading) => !reading.ok);
  const [first] = failed;
  if (first === undefined) return null;
  return (
    <>
      <Refused refusal={first.refusal} />
      <p>
        {failed.length} of {readings.length} points could not be read. What needs them is unknown.{" "}
        <Link to={visit.path}>Try again</Link>
      </p>
    </>
  );
}

interface CirculationProps {
  readonly days: readonly DayFigures[];
  readonly now: SupplyReading;
}

function Circulation({ days, now }: CirculationProps): VNode {
  const [first, last] = [days[0], days.at(-1)];
  const seen = now.ok ? coverageOf(now.value.supply) : undefined;
  const columns: readonly Column<DayFigures>[] = [
    { head: "End of", cell: ({ day }) => <Day>{day}</Day> },
    { head: "In circulation, KESC", cell: ({ circulating }) => <Amount>{circulating}</Amount>, isMoney: true },
    { head: "Reserve in the book, KES", cell: ({ reserve }) => <Amount>{reserve}</Amount>, isMoney: true },
  ];
  return (
    <section>
      <h2>In circulation and reserve</h2>
      <p>
        In circulation: <Amount>{first?.circulating}</Amount> KESC at the end of <Day>{first?.day ?? ""}</Day>, and{" "}
        <Amount>{last?.circulating}</Amount> KESC now. The reserve in the book is now <Amount>{last?.reserve}</Amount>{" "}
        KES. <Seen reading={now} seen={seen} />
      </p>
      <LineChart
        name="In circulation and the reserve at the end of each day"
        days={days.map(({ day }) => day)}
        lines={[
          { name: "In circulation", values: days.map(({ circulating }) => circulating) },
          { name: "Reserve in the book", values: days.map(({ reserve }) => reserve) },
        ]}
        now={seen && { name: "Seen, now", cents: centsOf(seen.seen) }}
      />
      <Numbers columns={columns} days={days} />
    </section>
  );
}

interface SeenProps {
  readonly reading: SupplyReading;
  readonly seen: Coverage | undefined;
}

/** The reserve in the book follows the circulation. What others saw stands beside it. */
function Seen({ reading, seen }: SeenProps): VNode {
  if (!reading.ok)
    return (
      <>
        What rails reported and people recorded is <Unknown />.
      </>
    );
  if (seen === undefined) return <>No rail reported a balance, and nobody recorded a figure.</>;
  return (
    <>
      Rails reported and people recorded <Money>{seen.seen}</Money> KES together. The oldest of these figures is{" "}
      {ageText(seen.ageSeconds)} old.
    </>
  );
}

function Turnover({ days }: { readonly days: readonly DayFigures[] }): VNode {
  const columns: readonly Column<DayFigures>[] = [
    { head: "Day", cell: ({ day }) => <Day>{day}</Day> },
    { head: "Minted, KESC", cell: ({ minted }) => <Amount>{minted}</Amount>, isMoney: true },
    { head: "Redeemed, KESC", cell: ({ redeemed }) => <Amount>{redeemed}</Amount>, isMoney: true },
  ];
  const [minted, redeemed] = [days.map((each) => each.minted), days.map((each) => each.redeemed)];
  return (
    <section>
      <h2>Minted and redeemed</h2>
      <p>
        In these days <Amount>{totalOf(minted)}</Amount> KESC entered circulation, and{" "}
        <Amount>{totalOf(redeemed)}</Amount> KESC left it. Deposits that were credited and reversals count, too.
      </p>
      <BarChart
        name="Minted and redeemed on each day"
        days={days.map(({ day }) => day)}
        up={{ name: "minted", values: minted }}
        down={{ name: "redeemed", values: redeemed }}
      />
      <Numbers columns={columns} days={days} />
    </section>
  );
}

interface NumbersProps {
  readonly columns: readonly Column<DayFigures>[];
  readonly days: readonly DayFigures[];
}

function Numbers({ columns, days }: NumbersProps): VNode {
  return (
    <details>
      <summary>The numbers</summary>
      <Table columns={columns} rows={days.toReversed()} empty="" />
    </details>
  );
}

function Amount({ children: cents }: { readonly children: bigint | undefined }): VNode {
  return cents === undefined ? <Unknown /> : <Money>{decimalOf(cents)}</Money>;
}

/** Returns undefined if a value is unknown. */
function totalOf(values: readonly (bigint | undefined)[]): bigint | undefined {
  return values.reduce<bigint | undefined>(
    (sum, value) => (sum === undefined || value === undefined ? undefined : sum + value),
    0n,
  );
}
