import type { Knex } from "knex";

import type { Transact } from "./engine.js";
import { query, run } from "./query.js";

/** Transactions on one of the pool's connections. */
export function postgresTransaction(knex: Knex): Transact {
  return (work) =>
    knex.transaction((transaction) =>
      work({
        read: ({ sql, bindings }) => query<unknown>(transaction, sql, bindings),
        write: async (writes) => {
          for (const { sql, rows } of writes) await run(transaction, sql, [JSON.stringify(rows)]);
        },
      }),
    );
}
