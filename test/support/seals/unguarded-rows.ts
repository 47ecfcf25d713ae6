import BetterSqlite3 from "better-sqlite3";
import pg from "pg";

import type { TestDatabase } from "../databases.js";

/**
 * Changes rows past all triggers and foreign keys, as somebody with the file or the owner's role
 * can. A statement writes bytes as BYTES(hexadecimal).
 */
export async function unguardedly({ address }: Pick<TestDatabase, "address">, statement: string): Promise<void> {
  if (address.engine === "sqlite") {
    const connection = new BetterSqlite3(address.filename);
    connection.pragma("foreign_keys = OFF");
    const triggers = connection
      .prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
      .all();
    for (const { name } of triggers) connection.exec(`DROP TRIGGER ${name}`);
    connection.exec(statement.replaceAll(/BYTES\(([0-9a-f]*)\)/g, "x'$1'"));
    for (const { sql } of triggers) connection.exec(sql);
    connection.close();
    return;
  }
  const client = new pg.Client({ connectionString: address.url });
  await client.connect();
  await client.query("SET session_replication_role = replica");
  await client.query(statement.replaceAll(/BYTES\(([0-9a-f]*)\)/g, String.raw`'\x$1'::bytea`));
  await client.end();
}
