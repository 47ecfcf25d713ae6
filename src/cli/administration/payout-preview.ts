import { textOf } from "../commands/output.js";
import type { MessageJson } from "./row.js";
import { itemsOf } from "./session.js";

/** Returns what a list of those to whom payouts are held has. */
export function payoutListLines(list: MessageJson): readonly string[] {
  const counts = ["accounts", "numbers", "names"].map((name) => `${textOf(list[name])} ${name}`);
  return [
    `List ${textOf(list["hash"])}`,
    `Holds payouts to ${counts.join(", ")}. Set ${textOf(list["set_at"])} by ${textOf(list["set_by"])}.`,
  ];
}

function listedLines({ listed = 0, listed_lines: lines }: MessageJson): readonly string[] {
  if (Number(listed) === 0) return [];
  const shown = (lines as readonly number[]).map(String).join(", ");
  const more = Number(listed) > (lines as readonly number[]).length ? ", …" : "";
  return [`Rows that the list holds, until two persons decide: ${textOf(listed)} (lines ${shown}${more})`];
}

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
    ...listedLines(preview),
    ...remarks(`Rows to look at, which are paid: ${textOf(warned)}`, warned, preview["warnings"]),
  ];
}
