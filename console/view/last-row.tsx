import type { ComponentChildren } from "preact";

import type { ReadingOf } from "../upstream/upstream.js";
import { Id } from "./values.js";

/**
 * Returns what a printed page needs so that a stranger can check it: its last row of the book, and
 * the newest checkpoint if it covers that row. `sequence` is null while the book has no row.
 */
export function lastRowFacts(
  sequence: number | null,
  checkpoint: ReadingOf<"BookService/GetCheckpoint">,
): Readonly<Record<string, ComponentChildren>> {
  if (sequence === null) return { "Last row": "The book had no row." };
  const sealed =
    checkpoint.ok && checkpoint.value.checkpoint.size >= sequence ? checkpoint.value.checkpoint : undefined;
  return {
    "Last row": `#${sequence.toLocaleString("en")}`,
    Checkpoint:
      sealed === undefined ? (
        "None covers the last row yet."
      ) : (
        <>
          {sealed.size.toLocaleString("en")} rows, root hash <Id>{sealed.root_hash}</Id>
        </>
      ),
  };
}
