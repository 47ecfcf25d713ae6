import type { KeyObject } from "node:crypto";

import type { Cell } from "../database.js";
import { readMasterKeys } from "../secrets/master-key.js";
import { newOperatorKey, type OperatorKeyRow, operatorMac, unwrapOperatorKey } from "../secrets/operator-key.js";
import type { Engine, Session } from "../sql/engine.js";
import { insertOf } from "../sql/insert.js";
import { orStoreError, readRows } from "../sql/store-error.js";

/** A row about operators, as the chain knows it. */
export interface Chained {
  /** Names the row: "act:1", "proposal:prp_…" or "decision:prp_…". */
  readonly subject: string;
  readonly fields: readonly (string | number)[];
}

/** The columns that `chainColumns` adds to a SELECT. All are empty if the chain lacks the row. */
export interface Link {
  readonly link_seq: number | null;
  readonly mac: string | null;
  readonly previous_mac: string | null;
}

/** What ends for ever: a session, or a code, an invitation or a challenge that was used. */
export type Ended = `session:${string}` | `used:${string}`;

/** The only row of `operator_keys`. */
const OPERATOR_KEY_ID = 1;

/**
 * The chain over the acts, proposals and decisions of a cell, and over the ends of sessions and of
 * what people sign in with (docs/adr/0072). Its key lies in the database, encrypted by the master
 * key. So somebody who has the database alone cannot add a row.
 */
export class OperatorChain {
  readonly #cell: Pick<Cell, "engine" | "reader" | "masterKeys" | "masterKeyFile">;
  #key: KeyObject | undefined;

  constructor(cell: Pick<Cell, "engine" | "reader" | "masterKeys" | "masterKeyFile">) {
    this.#cell = cell;
  }

  /** Appends a row, and returns its number. The transaction holds the lock of administration. */
  async append(session: Session, { subject, fields }: Chained): Promise<number> {
    const last = await this.#last(session);
    const key = await this.keyIn(session);
    const seq = (last?.seq ?? 0) + 1;
    const mac = operatorMac(key, { seq, previous: last?.mac ?? "", subject, fields });
    await session.write([insertOf(this.#cell.engine, "operator_chain", [{ seq, subject, mac }])]);
    return seq;
  }

  /**
   * Appends an end. Returns false if the chain has it already. An end is there for ever: an old
   * copy of the row that has ended counts for nothing. The transaction holds the lock of
   * administration.
   */
  async end(session: Session, ended: Ended): Promise<boolean> {
    const sql = `SELECT 1 FROM ${this.#cell.engine.table("operator_chain")} WHERE subject = ?`;
    if ((await session.read({ sql, bindings: [ended] })).length > 0) return false;
    await this.append(session, { subject: ended, fields: [] });
    return true;
  }

  /** Returns the rows that the chain has as they are. `chainedOf` says how it knows a row. */
  async known<Row extends Link>(
    rows: readonly Row[],
    chainedOf: (row: Row) => Chained,
    session?: Session,
  ): Promise<readonly Row[]> {
    const key = await this.key(session);
    if (key === undefined) return [];
    return rows.filter((row) => {
      const { link_seq: seq, mac, previous_mac: previous } = row;
      return seq !== null && operatorMac(key, { seq, previous: previous ?? "", ...chainedOf(row) }) === mac;
    });
  }

  /** Returns the key of the chain. Undefined before the first row. */
  key(session?: Session): Promise<KeyObject | undefined> {
    const { engine, masterKeys } = this.#cell;
    const read = async (): Promise<KeyObject | undefined> => {
      if (this.#key !== undefined) return this.#key;
      const sql = `SELECT chain_key, master_key_id FROM ${engine.table("operator_keys")}`;
      const [row] = await readRows<OperatorKeyRow>(this.#cell, sql, [], session);
      const key = row && unwrapOperatorKey(masterKeys(row.master_key_id), row);
      // The transaction that has made a key may still be undone.
      if (session === undefined) this.#key = key;
      return key;
    };
    return orStoreError(engine, read());
  }

  /** Returns the key, and makes it before the first row. The transaction holds the lock. */
  async keyIn(session: Session): Promise<KeyObject> {
    return (await this.key(session)) ?? this.#makeKey(session);
  }

  async #last(session: Session): Promise<{ readonly seq: number; readonly mac: string } | undefined> {
    const { table, hex } = this.#cell.engine;
    const sql = `SELECT seq, ${hex("mac")} AS mac FROM ${table("operator_chain")} ORDER BY seq DESC LIMIT 1`;
    return (await session.read<{ readonly seq: number; readonly mac: string }>({ sql, bindings: [] }))[0];
  }

  async #makeKey(session: Session): Promise<KeyObject> {
    if ((await this.#last(session)) !== undefined) {
      throw new Error("the key of the operators is missing: restore operator_keys");
    }
    const { engine, masterKeyFile } = this.#cell;
    const [key, { chain_key: wrapped, master_key_id }] = newOperatorKey(readMasterKeys(masterKeyFile));
    const row = { id: OPERATOR_KEY_ID, chain_key: wrapped.toString("hex"), master_key_id };
    await session.write([insertOf(engine, "operator_keys", [row])]);
    return key;
  }
}

/** Returns columns of the chain, and the join that finds them. `subject` is an expression. */
export function chainColumns(
  { table, hex }: Pick<Engine, "table" | "hex">,
  subject: string,
): { readonly columns: string; readonly join: string } {
  const chain = table("operator_chain");
  return {
    columns: `c.seq AS link_seq, ${hex("c.mac")} AS mac, ${hex("c0.mac")} AS previous_mac`,
    join: `LEFT JOIN ${chain} c ON c.subject = ${subject} LEFT JOIN ${chain} c0 ON c0.seq = c.seq - 1`,
  };
}
