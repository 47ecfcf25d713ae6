/** Prints one line, or several in one text. */
export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints one JSON value on one line, for scripts. */
export function printJson(value: unknown): void {
  printLine(JSON.stringify(value));
}

/** Prints rows with their columns under each other, the first of them the headings. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, column) => Math.max(cell.length, widest[column] ?? 0)),
    [],
  );
  for (const row of rows)
    printLine(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}

/**
 * What whoever reads our output does with it is their business: a closed pipe ends us in silence.
 */
export function endQuietlyWhenNobodyReads(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
}

/** A moment as RFC 3339, or null where there is none. */
export function timeOf(millis: number): string;
export function timeOf(millis: number | undefined): string | null;
export function timeOf(millis: number | undefined): string | null {
  return millis === undefined ? null : new Date(millis).toISOString();
}
