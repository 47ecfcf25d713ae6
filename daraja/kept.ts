/** How many rows of each list the simulator remembers. */
export const KEPT_MAX = 10_000;

/** Appends a row, and forgets the oldest ones of a list that would grow for ever. */
export function keep<Row>(rows: Row[], row: Row): void {
  rows.push(row);
  if (rows.length > KEPT_MAX) rows.splice(0, rows.length - KEPT_MAX);
}
