/** A table of a file: the cells of its lines. */
export type FileTable = readonly (readonly string[])[];
