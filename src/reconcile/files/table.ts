/** A file has this many rows, and a few lines above and below them. */
export const ROWS_MAX = 50_000;
export const SHEET_LINES_MAX = ROWS_MAX + 50;

/** A table of a file: the cells of its lines. */
export type FileTable = readonly (readonly string[])[];
