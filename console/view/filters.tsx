import type { ComponentChildren, VNode } from "preact";

import type { Visit } from "../page.js";
import { Link } from "./link.js";
import type { Column } from "./parts.js";
import { dayText, words } from "./values.js";

interface ChoicesProps {
  readonly name: string;
  readonly label: string;
  readonly values: readonly string[];
  readonly chosen: readonly string[];
  /** More ticks of the same group. */
  readonly children?: ComponentChildren;
}

/** A group of ticks of a filter. */
export function Choices({ name, label, values, chosen, children }: ChoicesProps): VNode {
  return (
    <fieldset>
      <legend>{label}</legend>
      {values.map((value) => (
        <label key={value} class="choice">
          <input type="checkbox" name={name} value={value} checked={chosen.includes(value)} /> {words(value)}
        </label>
      ))}
      {children}
    </fieldset>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly isDay?: true;
}

/** A field of a filter. */
export function Field({ name, label, value, isDay }: FieldProps): VNode {
  return (
    <label>
      {label}
      {isDay ? (
        <input type="date" name={name} value={value} />
      ) : (
        <input type="text" name={name} value={value} size={8} autoComplete="off" />
      )}
    </label>
  );
}

interface SelectProps {
  readonly name: string;
  readonly label: string;
  /** The values, or each with its words. */
  readonly values: readonly (string | readonly [value: string, text: string])[];
  readonly chosen: string;
}

/** One of several values of a filter, or all. A value of the URL that is none of them stays. */
export function Select({ name, label, values, chosen }: SelectProps): VNode {
  const known = values.map((each) => (typeof each === "string" ? ([each, words(each)] as const) : each));
  const others = chosen === "" || known.some(([value]) => value === chosen) ? [] : [[chosen, chosen] as const];
  return (
    <label>
      {label}
      <select name={name}>
        {[["", "all"] as const, ...known, ...others].map(([value, text]) => (
          <option key={value} value={value} selected={value === chosen}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Says what the filter by account takes: a user_id may be personal data, and is in no URL. */
export function NoId({ text }: { readonly text: string }): VNode | null {
  if (text === "" || text.startsWith("acc_")) return null;
  return (
    <p class="refused">
      The filter takes the id of an account, acc_…. Find the customer in the box above: “All of this account” leads
      here.
    </p>
  );
}

interface FiltersProps {
  readonly visit: Visit;
  /** The columns of the list. Those with a name can be left out. */
  readonly columns: readonly Pick<Column<never>, "head" | "name">[];
  readonly children: ComponentChildren;
}

/** The form of a list's filters, folded on a phone. It leads to a URL that others can open. */
export function Filters({ visit: { path, query }, columns, children }: FiltersProps): VNode {
  const hidden = query.getAll("hide");
  const isChosen = [...query.keys()].some((name) => !RANGE.includes(name));
  const named = columns.flatMap(({ head, name }) => (name === undefined ? [] : [{ head, name }]));
  return (
    <details class="narrowing" open={isChosen}>
      <summary>Filter</summary>
      <form method="get" action={path} class="filters">
        {children}
        <button type="submit">Filter</button>
        {named.length === 0 ? null : (
          <details open={hidden.length > 0}>
            <summary>Columns</summary>
            <fieldset>
              <legend>Leave out</legend>
              {named.map(({ head, name }) => (
                <label key={name} class="choice">
                  <input type="checkbox" name="hide" value={name} checked={hidden.includes(name)} /> {head}
                </label>
              ))}
            </fieldset>
          </details>
        )}
      </form>
    </details>
  );
}

/** What the links above a list choose, and its pages. */
const RANGE = ["start", "end", "page", "until"];

/** Returns the columns that the URL does not leave out. */
export function shownIn<Row>(query: URLSearchParams, columns: readonly Column<Row>[]): readonly Column<Row>[] {
  const hidden = query.getAll("hide");
  return columns.filter(({ name }) => name === undefined || !hidden.includes(name));
}

/** Days in Kenya, such as "2026-11-21", both included. */
interface DayRange {
  readonly start: string;
  readonly end: string;
}

const DAY_MILLIS = 86_400_000;

/** Returns the ranges that people ask for most, by their names. */
export function quickRanges(now: Date): Readonly<Record<string, DayRange>> {
  const today = dayText(now);
  const yesterday = dayText(new Date(now.getTime() - DAY_MILLIS));
  const firstOfMonth = `${today.slice(0, 7)}-01`;
  const lastOfBefore = new Date(Date.parse(`${firstOfMonth}T12:00:00Z`) - DAY_MILLIS).toISOString().slice(0, 10);
  return {
    Today: { start: today, end: today },
    Yesterday: { start: yesterday, end: yesterday },
    "This month": { start: firstOfMonth, end: today },
    "Last month": { start: `${lastOfBefore.slice(0, 7)}-01`, end: lastOfBefore },
  };
}

interface RangesProps {
  readonly visit: Visit;
  /** What the page shows. Undefined: what the URL says, which may be all days. */
  readonly days?: DayRange;
}

/** Links to the ranges. They keep the other filters. */
export function Ranges({ visit: { path, query }, days }: RangesProps): VNode {
  const { start, end } = days ?? { start: query.get("start") ?? "", end: query.get("end") ?? "" };
  const all: readonly (readonly [string, DayRange])[] = [
    ...(days === undefined ? [["All days", { start: "", end: "" }] as const] : []),
    ...Object.entries(quickRanges(new Date())),
  ];
  return (
    <p class="ranges">
      {all.map(([name, range]) => (
        <Link
          key={name}
          to={listPath(path, query, { ...range, page: "", until: "" })}
          isCurrent={range.start === start && range.end === end}
        >
          {name}
        </Link>
      ))}
    </p>
  );
}

/** Returns the path of a list with other values in its URL. An empty value leaves the name out. */
export function listPath(path: string, query: URLSearchParams, changes: Readonly<Record<string, string>>): string {
  const changed = new URLSearchParams([...query].filter(([name, value]) => value !== "" && !(name in changes)));
  for (const [name, value] of Object.entries(changes)) if (value !== "") changed.set(name, value);
  const text = changed.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Returns the path of the next page, with the same filters. Undefined after the last page. */
export function moreOf(path: string, query: URLSearchParams, token: string | null): string | undefined {
  return token === null ? undefined : listPath(path, query, { page: token });
}

/** A form sends its empty fields, too. Returns the URL without them, if there are any. */
export function tidied({ path, query }: Visit): { readonly redirect: string } | undefined {
  return [...query.values()].includes("") ? { redirect: listPath(path, query, {}) } : undefined;
}
