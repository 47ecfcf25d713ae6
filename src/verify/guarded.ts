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
    findings.add(place, { expected: "values that the schema allows", found: String(error) });
    return false;
  }
}
