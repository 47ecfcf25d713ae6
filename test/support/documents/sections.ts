import { readFileSync } from "node:fs";

// What stands in a document under a heading.

/** What stands under a heading, up to the next one of its level or above. */
export function textUnder(heading: string, document: string): string {
  const [, body] = partsAt(heading, readFileSync(document, "utf8"));
  return body;
}

/** The names in backticks that begin the items of a list under a heading. */
export function namesUnder(heading: string, document: string): readonly string[] {
  return Array.from(textUnder(heading, document).matchAll(/^- `([^`]+)`/gm), ([, name = ""]) => name);
}

/** The items under a heading that are a name in backticks and words: "- `name`: words". */
export function itemsUnder(heading: string, document: string): readonly (readonly string[])[] {
  const items = textUnder(heading, document).matchAll(/^- `([^`]+)`: (.+)$/gm);
  return Array.from(items, ([, name = "", words = ""]) => [name, words]);
}

/** The text with this in place of all that stands under a heading. */
export function withSection(text: string, heading: string, section: string): string {
  const [before, , after] = partsAt(heading, text);
  return `${before}\n${section}\n\n${after}`.trimEnd() + "\n";
}

/** The text with these lines in the first block of code under a heading. */
export function withCode(text: string, heading: string, lines: readonly string[]): string {
  const [before, body, after] = partsAt(heading, text);
  return before + body.replace(/^```\n[^]*?^```$/m, () => ["```", ...lines, "```"].join("\n")) + after;
}

/** The columns of these rows side by side, as a block of code shows them. */
export function inColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** The text up to the end of a heading, what stands under it, and all that follows. */
function partsAt(heading: string, text: string): readonly [before: string, body: string, after: string] {
  const at = `\n${text}`.indexOf(`\n${heading}\n`);
  if (at < 0) throw new Error(`there is no heading "${heading}"`);
  const from = at + heading.length + 1;
  const next = new RegExp(`^#{1,${String(heading.indexOf(" "))}} `, "m");
  const length = text.slice(from).search(next);
  const end = length < 0 ? text.length : from + length;
  return [text.slice(0, from), text.slice(from, end), text.slice(end)];
}
