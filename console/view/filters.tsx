import type { ComponentChildren, VNode } from "preact";

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
          <input type="checkbox" name={name} value={value} checked={chosen.includes(value)} /> {value}
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

/** Returns the path of the next page, with the same filters. Undefined after the last page. */
export function moreOf(path: string, query: URLSearchParams, token: string | null): string | undefined {
  if (token === null) return undefined;
  const more = new URLSearchParams(query);
  more.set("page", token);
  return `${path}?${more.toString()}`;
}
