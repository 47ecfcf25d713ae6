import type { CommandParameter, ListRow, OneRow, Row, StreamRow } from "../row.js";
import { type KnownParameter, PARAMETERS } from "./parameters.js";

/** The name of a parameter, which is "--org" for "--org <organization>". */
type Name = NameIn<keyof typeof PARAMETERS>;
type NameIn<Flags> = Flags extends `${infer Option} ${string}` ? Option : Flags;

/** A parameter of a row. With "?" it may be left out. */
export type WrittenParameter =
  Name | `${Name}?` | ({ readonly of: Name | `${Name}?` } & Partial<KnownParameter>) | CommandParameter;

/** A row as its file writes it. */
export type Written<Kind> = Omit<Kind, "path" | "parameters"> & { readonly parameters?: readonly WrittenParameter[] };

export type WrittenRow = Written<OneRow> | Written<ListRow> | Written<StreamRow>;

/** Rows by their commands, such as "org create". */
export type CommandRows = Readonly<Record<string, WrittenRow>>;

/** Returns rows with all that the table of parameters says. */
export function rowsOf(rows: CommandRows): readonly Row[] {
  return Object.entries(rows).map(([path, row]) => rowOf(path, row));
}

/** Returns the row of one command. */
export function rowOf(path: string, row: WrittenRow): Row {
  return { path, ...row, parameters: parametersOf(row.parameters) };
}

const FLAGS_BY_NAME = new Map(
  Object.entries<KnownParameter>(PARAMETERS).map((entry) => [entry[0].split(" ")[0], entry]),
);

/** Returns parameters with all that the table says of them. */
export function parametersOf(parameters: readonly WrittenParameter[] = []): readonly CommandParameter[] {
  return parameters.map((parameter) => {
    if (typeof parameter === "object" && "flags" in parameter) return parameter;
    const { of, ...changes } = typeof parameter === "string" ? { of: parameter } : parameter;
    const name = of.replace("?", "");
    const found = FLAGS_BY_NAME.get(name);
    if (found === undefined) throw new Error(`there is no parameter ${name}`);
    const [flags, usual] = found;
    const { field = fieldOf(name), ...said } = { ...usual, ...changes };
    return { ...said, flags, field: field ?? undefined, required: of === name ? true : undefined };
  });
}

/** The field of an argument or an option: "as_of" for "--as-of". */
function fieldOf(name: string): string {
  return name.replace(/^--|[<>]/g, "").replaceAll("-", "_");
}
