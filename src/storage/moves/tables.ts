import type { Engine } from "../sql/engine.js";

/** How the rows of a table name their organization. */
type Owner = "organization" | "book" | "endpoint" | "transaction";

/** A table with rows of organizations. They go along when an organization moves. */
export interface MovedTable {
  readonly name: string;
  readonly owner: Owner;
  /** The column that names the owner. */
  readonly column: string;
  /** The columns that name one row. The rows are read in this order. */
  readonly key: readonly string[];
  /** A column that each database numbers by itself. It does not go along. */
  readonly numbered?: string;
}

const ofBook = (name: string, ...key: readonly string[]): MovedTable => ({ name, owner: "book", column: "book", key });
const ofOrganization = (name: string): MovedTable => ({
  name,
  owner: "organization",
  column: "organization_id",
  key: ["id"],
});
const ofEndpoint = (name: string, last: string): MovedTable => ({
  name,
  owner: "endpoint",
  column: "endpoint_id",
  key: ["endpoint_id", last],
});

/**
 * All tables with rows of organizations. A row refers only to rows of the same table that come
 * before it, and to rows of earlier tables. A test compares the list with the schema.
 *
 * The first three stay as a tombstone when the rows of a book are removed: see `emptyBook`.
 */
export const MOVED_TABLES: readonly MovedTable[] = [
  { name: "organizations", owner: "organization", column: "id", key: ["id"] },
  { name: "books", owner: "organization", column: "organization_id", key: ["organization_id"] },
  ofBook("book_keys", "book"),
  ofBook("accounts", "book", "seq"),
  ofBook("account_holders", "account_id"),
  ofBook("freezes", "book", "seq"),
  ofBook("transactions", "book", "seq"),
  ofBook("payments", "transaction_id"),
  ofBook("proposals", "subject"),
  ofBook("idempotency_keys", "book", "key"),
  ofBook("journal", "book", "seq"),
  ofOrganization("rail_accounts"),
  { name: "rail_messages", owner: "transaction", column: "transaction_id", key: ["id"], numbered: "id" },
  ofBook("seals", "book", "size"),
  ofBook("seal_tiles", "book", "level", "number"),
  ofBook("seal_alarms", "book", "raised_at"),
  ofOrganization("webhook_endpoints"),
  ofEndpoint("webhook_retries", "seq"),
  ofEndpoint("webhook_log", "number"),
  ofBook("account_marks", "book", "seq"),
  ofBook("book_marks", "book", "seq"),
  ofBook("reserve_places", "book", "place"),
  ofOrganization("api_keys"),
];

/** The first tables of the list, and the key by which their row is updated. */
export const TOMBSTONE_TABLES = [
  { name: "organizations", key: "id" },
  { name: "books", key: "number" },
  { name: "book_keys", key: "book" },
] as const;

/** The tables of which every row belongs to the database, and none to an organization. */
export const TABLES_THAT_STAY: readonly string[] = [
  "leases",
  "book_moves",
  "operator_acts",
  "operator_proposals",
  "operator_decisions",
  "operator_keys",
  "operator_chain",
  "knex_migrations",
  "knex_migrations_lock",
];

/** The tables that refuse DELETE. */
export const APPEND_ONLY_TABLES: ReadonlySet<string> = new Set(["journal", "seals"]);

/** A book, and the organization whose it is. */
export interface MovedBook {
  readonly number: number;
  readonly organizationId: string;
}

/** A condition on the rows of a table, which the statement names `x`. */
export interface Condition {
  readonly sql: string;
  readonly bindings: readonly (string | number)[];
}

/** Returns the condition that a row belongs to the book. */
export function belongsTo(
  { table }: Pick<Engine, "table">,
  { owner, column }: Pick<MovedTable, "owner" | "column">,
  { number, organizationId }: MovedBook,
): Condition {
  switch (owner) {
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
