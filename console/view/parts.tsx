import type { ComponentChildren, VNode } from "preact";

import type { Refusal } from "../upstream/refusal.js";
import type { Reading } from "../upstream/upstream.js";
import { Link } from "./link.js";
import { Money, moneyText, Text, Unknown } from "./values.js";

export interface Column<Row> {
  readonly head: string;
  /** Its name in a URL that leaves it out. Undefined: it always stands. */
  readonly name?: string;
  /** Names the row. Where the screen is narrow, it begins the card. */
  readonly isTitle?: true;
  /** A string is shown as `Text`, which has a bound. */
  readonly cell: (row: Row) => ComponentChildren;
  /** Money stands at the right, in digits of one width. */
  readonly isMoney?: true;
  /** Left out where the screen is narrow. */
  readonly isMinor?: true;
}

interface TableProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** What an empty list says. */
  readonly empty: ComponentChildren;
  readonly caption?: string;
  /** The sums of the rows, below the last column. */
  readonly totals?: readonly Total[];
}

export interface Total {
  readonly name: string;
  readonly amount: string;
}

/** A table. Where the screen is narrow, each row is a card, which is short if it has a title. */
export function Table<Row>({ columns, rows, empty, caption, totals = [] }: TableProps<Row>): VNode {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  const classOf = ({ isMoney, isMinor, isTitle }: Column<Row>): string =>
    [isMoney ? "number" : "", isMinor ? "minor" : "", isTitle ? "title" : ""].filter((name) => name !== "").join(" ");
  return (
    <table class={columns.some(({ isTitle }) => isTitle) ? "list" : undefined}>
      {caption === undefined ? null : <caption>{caption}</caption>}
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.head} scope="col" class={classOf(column)}>
              {column.head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {columns.map((column) => (
              <td key={column.head} class={classOf(column)} data-head={column.head}>
                {isolated(column.cell(row))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
      {totals.length === 0 ? null : (
        <tfoot>
          {totals.map(({ name, amount }) => (
            <tr key={name}>
              <th scope="row" colSpan={columns.length - 1}>
                {name}
              </th>
              <td class="number">{moneyText(amount)}</td>
            </tr>
          ))}
        </tfoot>
      )}
    </table>
  );
}

/** A bare string may be a text that somebody has written. */
function isolated(value: ComponentChildren): ComponentChildren {
  return typeof value === "string" && value !== "" ? <Text>{value}</Text> : value;
}

/** Names with their values. Leaves out those that are null. */
export function Facts({ facts }: { readonly facts: Readonly<Record<string, ComponentChildren>> }): VNode {
  return (
    <dl class="facts">
      {Object.entries(facts).map(([name, value]) =>
        value === null || value === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{isolated(value)}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** Why there is no response: the words and the advice of the contract. */
export function Refused({ refusal: { reason, text, advice } }: { readonly refusal: Refusal }): VNode {
  return (
    <div class={reason === undefined ? "refused bad" : "refused"} role="status">
      <p>
        <Text>{text}</Text> {reason === undefined ? null : <code>{reason}</code>}
      </p>
      {advice === undefined ? null : <p class="advice">What to do: {advice}.</p>}
    </div>
  );
}

interface SectionProps<T> {
  readonly title: string;
  readonly reading: Reading<T>;
  /** The path of this page, to try again. */
  readonly retry: string;
  readonly children: (value: T) => ComponentChildren;
}

/** A part of a page that has one reading. It fails alone. */
export function Section<T>({ title, reading, retry, children }: SectionProps<T>): VNode {
  return (
    <section>
      <h2>{title}</h2>
      {reading.ok ? (
        children(reading.value)
      ) : (
        <>
          <Refused refusal={reading.refusal} />
          <p>
            <Link to={retry}>Try again</Link>
          </p>
        </>
      )}
    </section>
  );
}

/** The command that does what this page has no act for. */
export function Commands({ children }: { readonly children: readonly string[] }): VNode {
  return (
    <pre class="commands">
      <code>{children.join("\n")}</code>
    </pre>
  );
}

interface SumTableProps {
  readonly rows: readonly Summand[];
  readonly total: Summand;
}

type Summand = readonly [name: VNode | string, amount: string, note?: VNode];

/** Amounts, and what they lead to. */
export function SumTable({ rows, total }: SumTableProps): VNode {
  return (
    <table class="sum">
      <tbody>
        {[...rows, total].map(([name, amount, note], index) => (
          <tr key={index} class={index === rows.length ? "total" : ""}>
            <th scope="row">
              {name}
              {note === undefined ? null : <small>, {note}</small>}
            </th>
            <td class="number">
              <Money>{amount}</Money>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Figure = readonly [name: string, amount: string | null, age?: string];

/** Amounts that a person compares. Null: nobody knows it. */
export function FigureList({ figures }: { readonly figures: readonly Figure[] }): VNode {
  return (
    <ul class="figures">
      {figures.map(([name, amount, age]) => (
        <li key={name}>
          <span class="name">{name}</span>
          <span class="value">
            {amount === null ? (
              <Unknown />
            ) : (
              <>
                {moneyText(amount)} <small>KES</small>
              </>
            )}
          </span>
          {age === undefined ? null : <span class="age">{age}</span>}
        </li>
      ))}
    </ul>
  );
}

interface MoreProps {
  readonly to: string | undefined;
  readonly isEmpty: boolean;
  /** What the next page has. */
  readonly word?: string;
}

/** The link to the next page of a list. A bounded read may find nothing and go on. */
export function More({ to, isEmpty, word = "Older" }: MoreProps): VNode | null {
  if (to === undefined) return null;
  return (
    <p class="more">
      {isEmpty ? "No matches so far. " : ""}
      <Link to={to}>{isEmpty ? "Continue" : word}</Link>
    </p>
  );
}
