import type { Audit } from "./audit.js";
import type { BookFindings, Place } from "./findings.js";

/**
 * Runs a step of a check. Turns its exception into a finding, and returns whether there was none.
 * Only a value that the schema forbids, such as NULL in place of a text, makes a check throw.
 */
export function guarded(findings: BookFindings, place: Place, step: () => void): boolean {
  try {
    step();
    return true;
  } catch (error) {
    addUnreadable(findings, place, error);
    return false;
  }
}

/** Runs a step that reads, as `guarded` does. Rejects with a database's error: it is no finding. */
export async function guardedReads(
  { databaseErrors }: Pick<Audit, "databaseErrors">,
  { findings, place }: { readonly findings: BookFindings; readonly place: Place },
  step: () => Promise<void> | void,
): Promise<boolean> {
  try {
    await step();
    return true;
  } catch (error) {
    if (databaseErrors.has(error)) throw error;
    addUnreadable(findings, place, error);
    return false;
  }
}

function addUnreadable(findings: BookFindings, place: Place, error: unknown): void {
  // The message of a SyntaxError has a part of the text.
  const found = error instanceof SyntaxError ? "text that is no JSON" : String(error);
  findings.add(place, { expected: "values that the schema allows", found });
}

/** Parses a column with JSON. The error names the column, and has no part of the text. */
export function jsonIn(column: string, text: string | null, absent: string): unknown {
  try {
    return JSON.parse(text ?? absent);
  } catch {
    throw new TypeError(`${column} is no JSON`);
  }
}
