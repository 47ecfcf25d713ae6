import { textOf } from "../commands/output.js";
import type { MessageJson } from "./row.js";
import { itemsOf } from "./session.js";

/** Returns a preview in lines. The page of a second person has the same. */
export function previewLines(preview: MessageJson): readonly string[] {
  const remarks = (title: string, count: unknown, shown: unknown): readonly string[] => {
    const items = itemsOf(shown);
    if (items.length === 0) return [];
    const more = Number(count) > items.length ? [`  and ${String(Number(count) - items.length)} more`] : [];
    return [title, ...items.map(({ line, text }) => `  line ${textOf(line)}: ${textOf(text)}`), ...more];
  };
  const { left_out: leftOut, warned } = preview;
  return [
    `File ${textOf(preview["sha256"])}`,
    `Pays ${textOf(preview["count"])} rows over ${textOf(preview["rail"])}, together ${textOf(preview["amount"])}`,
    ...itemsOf(preview["totals"]).map((total) => {
      return `  ${textOf(total["kind"])}: ${textOf(total["count"])}, ${textOf(total["amount"])}`;
    }),
    ...remarks(`Rows with an error, which are not paid: ${textOf(leftOut)}`, leftOut, preview["errors"]),
    ...remarks(`Rows to look at, which are paid: ${textOf(warned)}`, warned, preview["warnings"]),
  ];
}
