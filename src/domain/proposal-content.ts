import type { Authorized } from "./authority.js";
import type { Change } from "./change.js";

/** The fields of a command that are not its content. */
const ENVELOPE: ReadonlySet<string> = new Set<keyof Authorized>([
  "organizationId",
  "actor",
  "authority",
  "dryRun",
  "isPreview",
  "sealed",
  "facts",
]);
// The first text of a content names its form, so that a later form cannot be mistaken for it.
const FORMAT = "kesc-act-2";

/** Returns what a command is about, as a JSON object. Equal commands give equal texts. */
export function contentOf(command: Authorized): string {
  const fields = Object.entries(command).filter(([name]) => !ENVELOPE.has(name));
  const sorted = fields.sort(([left], [right]) => (left < right ? -1 : 1));
  return JSON.stringify({ format: FORMAT, ...Object.fromEntries(sorted) });
}

/** Returns the fields of the command with this content. Undefined for another form. */
export function contentFrom(content: string): ({ readonly name: string } & object) | undefined {
  const { format, ...fields } = JSON.parse(content) as { readonly format?: unknown; readonly name: string };
  return format === FORMAT ? fields : undefined;
}

/** Returns what a proposal changes. */
export function changesIn(content: string): readonly Change[] {
  // A row that somebody has changed past the service has no content.
  return content === "" ? [] : (JSON.parse(content) as { readonly shown: readonly Change[] }).shown;
}

/** Returns whether two contents are of the same act, whatever stood when it was proposed. */
export function isSameAct(one: string, other: string): boolean {
  const [left, right] = [one, other].map((content) =>
    JSON.stringify(JSON.parse(content), (name, value: unknown) =>
      name === "format" || name === "shown" ? undefined : value,
    ),
  );
  return left === right;
}

/** Returns the name of the command that a proposal wants. */
export function nameIn(content: string): string {
  return (JSON.parse(content) as { readonly name: string }).name;
}
