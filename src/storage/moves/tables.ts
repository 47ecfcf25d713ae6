import type { Owner, TableModel } from "../../model/column.js";
import { KNEX_TABLE_NAMES, TABLES_BY_NAME } from "../../model/tables.js";
import type { Engine } from "../sql/engine.js";

/** A table with rows of organizations. They go along when an organization moves. */
export interface MovedTable extends Pick<TableModel, "key" | "numbered"> {
  readonly name: string;
  readonly owner: Exclude<Owner, { readonly of: "database" }>;
  /** Its columns that are `due`. */
  readonly due: readonly string[];
}

/**
 * All tables with rows of organizations, in the order of the model.
 *
 * The first three stay as a tombstone when the rows of a book are removed: see `emptyBook`.
 */
export const MOVED_TABLES: readonly MovedTable[] = TABLES_BY_NAME.flatMap(
  ([name, { owner, key, numbered, columns }]) => {
    if (owner.of === "database") return [];
    const due = Object.keys(columns).filter((column) => columns[column]?.isDue === true);
    return [{ name, owner, key, due, ...(numbered === undefined ? {} : { numbered }) }];
  },
);

/** The first tables of the list, and the key by which their row is updated. */
export const TOMBSTONE_TABLES = [
  { name: "organizations", key: "id" },
  { name: "books", key: "number" },
  { name: "book_keys", key: "book" },
] as const;

/** The tables of which every row belongs to the database, and none to an organization. */
export const TABLES_THAT_STAY: readonly string[] = [
  ...TABLES_BY_NAME.filter(([, { owner }]) => owner.of === "database").map(([name]) => name),
  ...KNEX_TABLE_NAMES,
];

/** The tables that refuse DELETE. */
export const APPEND_ONLY_TABLES: ReadonlySet<string> = new Set(
  TABLES_BY_NAME.filter(([, { isAppendOnly }]) => isAppendOnly === true).map(([name]) => name),
);

/** A book, and the organization whose it is. */
export interface MovedBook {
  readonly number: number;
  readonly organizationId: string;
}

/** A condition on the rows of a table, which the statement names `x`. */
export interface RowCondition {
  readonly sql: string;
  readonly bindings: readonly (string | number)[];
}

/** Returns the condition that a row belongs to the book. */
export function belongsTo(
  { table }: Pick<Engine, "table">,
  { owner: { of, column } }: Pick<MovedTable, "owner">,
  { number, organizationId }: MovedBook,
): RowCondition {
  switch (of) {
    case "book":
      return { sql: `x.${column} = ?`, bindings: [number] };
    case "organization":
      return { sql: `x.${column} = ?`, bindings: [organizationId] };
    case "endpoint":
      return {
        sql: `x.${column} IN (SELECT e.id FROM ${table("webhook_endpoints")} e WHERE e.organization_id = ?)`,
        bindings: [organizationId],
      };
    // A message about a transaction that no book has stays: nobody can say whose it is.
    case "transaction":
      return {
        sql: `EXISTS (SELECT 1 FROM ${table("transactions")} t WHERE t.id = x.${column} AND t.book = ?)`,
        bindings: [number],
      };
  }
}
