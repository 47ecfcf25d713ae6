import type { KeyObject } from "node:crypto";

import type { RowOf } from "../../model/column.js";
import type { OPERATOR_CHAIN } from "../../model/database.js";
import { WrongMasterKeyError } from "../../storage/secrets/book-keys.js";
import { type OperatorKeyRow, operatorMac, unwrapOperatorKey } from "../../storage/secrets/operator-key.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { operatorsOfCell } from "../heads.js";

/** A row about operators, as the chain must have it. */
export interface RowOfChain {
  readonly subject: string;
  readonly fields: readonly (string | number)[];
  readonly place: Place;
}

type ChainRow = RowOf<typeof OPERATOR_CHAIN, string>;

/**
 * Audits the chain over the acts, proposals and decisions of a cell. Each of them must have its row
 * in the chain, with a `mac` that only the master key gives. Nobody can add one with the database
 * alone.
 */
export class OperatorChainAudit {
  readonly #audit: Audit;
  /** The rows when the audit began. A server may append more. */
  readonly #rows: readonly ChainRow[];

  private constructor(audit: Audit, rows: readonly ChainRow[]) {
    this.#audit = audit;
    this.#rows = rows;
  }

  static async begin(audit: Audit): Promise<OperatorChainAudit> {
    return new OperatorChainAudit(audit, await rowsAfter(audit, 0));
  }

  /** Compares the chain with the rows, which were read after it. */
  async end(rows: readonly RowOfChain[]): Promise<void> {
    const last = this.#rows.at(-1);
    const all = [...this.#rows, ...(await rowsAfter(this.#audit, last?.seq ?? 0))];
    const links = new Map(all.map((row) => [row.subject, row]));
    const lost = rows.filter(({ subject }) => !links.has(subject));
    for (const { place } of lost) this.#add(place, { expected: "a row of the chain for it", found: "none" });
    this.#compareHead(all);
    if (all.length === 0) return;
    const key = await this.#key();
    const bySubject = new Map(rows.map((row) => [row.subject, row]));
    let previous = { seq: 0, mac: "" };
    for (const link of all) {
      const row = bySubject.get(link.subject) ?? endOf(link);
      const own = { seq: link.seq, table: "operator_chain", id: link.subject } as const;
      if (link.seq !== previous.seq + 1) {
        this.#add(own, { expected: `seq ${String(previous.seq + 1)}`, found: `seq ${String(link.seq)}` });
      }
      if (row === undefined) {
        // A row that was written after the others were read has a newer row of the chain.
        if (link.seq <= (last?.seq ?? 0)) this.#add(own, { expected: "the row that it names", found: "none" });
      } else if (key !== undefined) {
        const { subject, fields } = row;
        const mac = operatorMac(key, { seq: link.seq, previous: previous.mac, subject, fields });
        if (mac !== link.mac) {
          this.#add(row.place, { expected: "the row that the chain has", found: "another row, or another chain" });
        }
      }
      previous = link;
    }
  }

  /** Returns the key of the chain. Adds a finding if there is none that the master key decrypts. */
  async #key(): Promise<KeyObject | undefined> {
    const { engine, masterKeys } = this.#audit;
    const sql = `SELECT chain_key, master_key_id FROM ${engine.table("operator_keys")} WHERE id = 1`;
    const [row] = await this.#audit.rows<OperatorKeyRow>(sql);
    try {
      if (row !== undefined) return unwrapOperatorKey(masterKeys(), row);
      this.#add(KEY_PLACE, { expected: "the key of the chain", found: "none" });
    } catch (error) {
      if (!(error instanceof WrongMasterKeyError)) throw error;
      this.#add(KEY_PLACE, { expected: "a key that the master key decrypts", found: error.message });
    }
    return undefined;
  }

  #compareHead(all: readonly ChainRow[]): void {
    const { cell, coverage, notedHeads } = this.#audit;
    const organizationId = operatorsOfCell(cell);
    const last = all.at(-1);
    if (last !== undefined) coverage.otherHeads.push({ organizationId, seq: last.seq, contentHash: last.mac });
    const noted = notedHeads.get(organizationId);
    if (noted === undefined || last === undefined) return;
    if (all.find(({ seq }) => seq === noted.seq)?.mac === noted.contentHash) return;
    const found = last.seq < noted.seq ? `the chain ends at seq ${String(last.seq)}` : "another row";
    const place = { seq: noted.seq, table: "operator_chain", id: organizationId } as const;
    this.#add(place, { expected: "the row that the heads file knows", found });
  }

  #add(place: Place, texts: { readonly expected: string; readonly found: string }): void {
    this.#audit.findings.of(undefined).add(place, texts);
  }
}

/** Of what has ended only the name is left, in the chain. */
const ENDED = /^(?:session|used):/;

function endOf({ seq, subject }: ChainRow): RowOfChain | undefined {
  return ENDED.test(subject)
    ? { subject, fields: [], place: { seq, table: "operator_chain", id: subject } }
    : undefined;
}

const KEY_PLACE: Place = { seq: undefined, table: "operator_keys", id: undefined };

function rowsAfter({ engine, rows }: Audit, seq: number): Promise<readonly ChainRow[]> {
  const sql = `
    SELECT seq, subject, ${engine.hex("mac")} AS mac FROM ${engine.table("operator_chain")} WHERE seq > ? ORDER BY seq`;
  return rows<ChainRow>(sql, [seq]);
}
