import type { Knex } from "knex";

import type { Transact } from "./engine.js";
import { query, run } from "./query.js";

/** Transactions on one of the pool's connections. */
export function postgresTransaction(knex: Knex): Transact {
  return (work) =>
    knex.transaction((transaction) =>
      work({
        read: async (reads) => {
          const answers: (readonly unknown[])[] = [];
          for (const { sql, bindings } of reads) answers.push(await query<unknown>(transaction, sql, bindings));
          return answers;
        },
        write: async (writes) => {
          for (const { sql, rows } of writes) await run(transaction, sql, [JSON.stringify(rows)]);
        },
      }),
    );
}
