/** A Markdown table as prettier writes it: first column to the left, others to the right. */
export function tableOf(cells: readonly (readonly string[])[]): string {
  const widths = (cells[0] ?? []).map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))),
  );
  const rule = widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  return [lines[0] ?? [], rule, ...lines.slice(1)].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** A figure for a table: empty where it was not measured. */
export function cell(value: number | null | undefined, digits: number): string {
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value?.toLocaleString("en", format) ?? "";
}
