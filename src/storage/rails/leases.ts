import type { EarlyLease, LeaseStore } from "../../leases/ports.js";
import type { Cell } from "../database.js";
import type { Engine, Read } from "../sql/engine.js";
import { inTransaction } from "../sql/store-error.js";

/** No lease is taken for more than its term. The factor leaves room for clocks that are set. */
const TERMS_MAX = 2;

/**
 * Implements the port `LeaseStore` for one cell. Each call is a transaction of its own. Calls
 * `onEarly` when a lease was taken before its end.
 *
 * On SQLite the server that has the lock of the file takes each lease once, even if another holder
 * has it: that holder had the lock, so its process has ended.
 */
export function leases(
  { engine, transact, serverLock }: Pick<Cell, "engine" | "transact" | "serverLock">,
  onEarly: (lease: EarlyLease) => void = () => undefined,
): LeaseStore {
  const statements = leaseStatements(engine);
  const inherited = new Set<string>();
  const run = <Row>(reads: readonly Read[]): Promise<readonly (readonly Row[])[]> =>
    inTransaction({ engine, transact }, async (session) => {
      const results: (readonly Row[])[] = [];
      for (const read of reads) results.push(await session.read<Row>(read));
      return results;
    });
  return {
    take: async (name, { holder, millis }) => {
      const inherits = serverLock?.take() === true && !inherited.has(name);
      // Before the first wait: another call of this server may come meanwhile.
      if (inherits) inherited.add(name);
      const farMillis = millis * TERMS_MAX;
      const [[before] = [], taken = []] = await run<HeldRow>([
        { sql: statements.held, bindings: [name, holder] },
        { sql: statements.take, bindings: [name, holder, millis, farMillis, inherits ? 1 : 0] },
      ]).catch((error: unknown) => {
        if (inherits) inherited.delete(name);
        throw error;
      });
      if (taken.length === 0) return false;
      const leftMillis = before?.left_millis ?? 0;
      if (leftMillis > farMillis) onEarly({ name, leftMillis, because: "it was taken by a wrong clock" });
      else if (leftMillis > 0 && inherits) onEarly({ name, leftMillis, because: "its server has ended" });
      return true;
    },
    release: async (name, holder) => {
      await run([{ sql: statements.release, bindings: [name, holder] }]);
    },
  };
}

interface HeldRow {
  readonly left_millis: number;
}

function leaseStatements({ table, nowMillis }: Engine) {
  return {
    held: `SELECT until - ${nowMillis} AS left_millis FROM ${table("leases")} WHERE name = ? AND holder <> ?`,
    take: `
      INSERT INTO ${table("leases")} AS held (name, holder, until, fence) VALUES (?, ?, ${nowMillis} + ?, 1)
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until,
        fence = held.fence + CASE WHEN held.holder = excluded.holder THEN 0 ELSE 1 END
      WHERE held.holder = excluded.holder OR held.until <= ${nowMillis} OR held.until > ${nowMillis} + ? OR ? = 1
      RETURNING name`,
    release: `UPDATE ${table("leases")} SET until = 0 WHERE name = ? AND holder = ? RETURNING name`,
  };
}
