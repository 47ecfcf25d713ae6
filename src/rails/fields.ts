// The JSON of rails is loosely typed: a code is a number in one message and a text in another, and
// a list of one item may be the item itself. These functions read it without throwing.

/** An object of JSON whose fields nobody has checked. */
export type Fields = Readonly<Record<string, unknown>>;

/** Parses a JSON object. Returns undefined for any other text. */
export function parseFields(text: string): Fields | undefined {
  try {
    return asFields(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Returns the object inside, or undefined if the value is no object. */
export function asFields(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** Returns a text or a number as a text without spaces at its ends. Empty counts as absent. */
export function asText(value: unknown): string | undefined {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || text.trim() === "") return undefined;
  return text.trim();
}

/** Returns the items of a list, or the one item that stands in place of a list. */
export function asList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/**
 * Reads a list such as [{"Name": "Amount", "Value": 1}]. `labelField` is "Name" or "Key". An item
 * without a value is left out.
 */
export function asParameters(value: unknown, labelField: "Name" | "Key"): ReadonlyMap<string, string> {
  return new Map(
    asList(value).flatMap((item) => {
      const fields = asFields(item);
      const label = asText(fields?.[labelField]);
      const text = asText(fields?.["Value"]);
      return label === undefined || text === undefined ? [] : [[label, text] as const];
    }),
  );
}

// What the rail calls a code: short, without spaces. Any other text does not get into a result.
const CODE = /^[\w.-]{1,40}$/;

/** Returns a code of the rail, or undefined if the value cannot be one. */
export function asCode(value: unknown): string | undefined {
  const text = asText(value);
  return text !== undefined && CODE.test(text) ? text : undefined;
}
