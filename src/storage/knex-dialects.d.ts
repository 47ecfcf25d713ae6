// Knex publishes no types for its dialect classes. This file declares the methods that we override,
// as of knex 3.3: lib/dialects/better-sqlite3/index.js,
// lib/dialects/sqlite3/execution/sqlite-transaction.js and lib/dialects/postgres/index.js.
declare module "knex/lib/dialects/better-sqlite3/index.js" {
  import type { Knex } from "knex";

  export interface QueryObject {
    readonly sql: string;
    readonly bindings?: readonly unknown[];
    readonly options?: { readonly name: string } | undefined;
    response?: unknown;
    context?: unknown;
  }

  export default class BetterSqlite3Client extends Knex.Client {
    readonly connectionSettings: object;
    acquireRawConnection(): Promise<unknown>;
    destroyRawConnection(connection: unknown): Promise<void>;
    _query(connection: unknown, query: QueryObject): Promise<QueryObject>;
    _formatBindings(bindings: readonly unknown[] | undefined): unknown[];
  }
}

declare module "knex/lib/dialects/sqlite3/execution/sqlite-transaction.js" {
  export default class SqliteTransaction {
    constructor(client: unknown, ...parameters: unknown[]);
    begin(connection: unknown): Promise<unknown>;
    query(connection: unknown, sql: string): Promise<unknown>;
  }
}

declare module "knex/lib/dialects/postgres/index.js" {
  import type { Knex } from "knex";
  import type { Client } from "pg";

  export interface QueryObject {
    readonly sql: string;
    readonly bindings?: readonly unknown[];
    readonly options?: { readonly name: string } | undefined;
    response?: unknown;
  }

  export default class PostgresClient extends Knex.Client {
    acquireRawConnection(): Promise<Client>;
    _query(connection: Client, query: QueryObject): Promise<QueryObject>;
    positionBindings(sql: string): string;
  }
}
