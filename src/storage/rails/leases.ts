import type { LeaseStore } from "../../leases/ports.js";
import type { Cell } from "../database.js";
import type { Engine, Read } from "../sql/engine.js";
import { orStoreError } from "../sql/store-error.js";

/** Implements the port `LeaseStore` for one cell. Each call is a transaction of its own. */
export function leases({ engine, transact }: Pick<Cell, "engine" | "transact">): LeaseStore {
  const statements = leaseStatements(engine);
  const ran = async (read: Read): Promise<boolean> => {
    const rows = await orStoreError(
      engine,
      transact((session) => session.read(read)),
    );
    return rows.length > 0;
  };
  return {
    take: (name, { holder, millis }) => ran({ sql: statements.take, bindings: [name, holder, millis] }),
    release: async (name, holder) => {
      await ran({ sql: statements.release, bindings: [name, holder] });
    },
  };
}

function leaseStatements({ table, nowMillis }: Engine) {
  return {
    take: `
      INSERT INTO ${table("leases")} AS held (name, holder, until, fence) VALUES (?, ?, ${nowMillis} + ?, 1)
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until,
        fence = held.fence + CASE WHEN held.holder = excluded.holder THEN 0 ELSE 1 END
      WHERE held.holder = excluded.holder OR held.until <= ${nowMillis}
      RETURNING name`,
    release: `UPDATE ${table("leases")} SET until = 0 WHERE name = ? AND holder = ? RETURNING name`,
  };
}
