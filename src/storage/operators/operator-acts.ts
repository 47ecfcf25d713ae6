import { hash } from "node:crypto";

import { type Change, outdatedIn } from "../../domain/change.js";
import type { Actor } from "../../domain/values/actor.js";
import type { OperatorId, ProposalId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { OPERATOR_ACTS } from "../../model/database.js";
import type { OperatorsAct } from "../../operators/act.js";
import { type Operator, passkeyIdOf } from "../../operators/operator.js";
import type { ActsPage, OperatorAct } from "../../operators/ports.js";
import { changesOfAct } from "../../operators/proposed.js";
import type { Cell } from "../database.js";
import type { Authorship } from "../organizations/authorship.js";
import type { Binding, Session } from "../sql/engine.js";
import { insertOf } from "../sql/insert.js";
import { inTransaction, orStoreError } from "../sql/store-error.js";
import { chainColumns, type Chained, type Link, OperatorChain } from "./operator-chain.js";
import { changeOf, operatorsOf, type RecordedChange, type RowOfAct } from "./operator-changes.js";
import { RefusedActError } from "./refused.js";

type ActRow = Link & RecordedChange & Pick<RowOf<typeof OPERATOR_ACTS, string>, "seq" | "actor" | "hash">;

// The first text names the format, so that a later format cannot be mistaken for this one.
const FORMAT = "kesc-operator-act-1";
const NO_HASH = "";

/**
 * The operators of the database. Their acts stand in the first cell, and say all that is known
 * about them. Each hash covers the one before it. An operator with an act that the chain lacks is
 * none: somebody wrote it past the service.
 */
export class OperatorActs {
  readonly #cell: Cell;
  readonly #now: () => UnixMillis;
  readonly #chain: OperatorChain;
  readonly #select: string;

  constructor(cell: Cell, now: () => UnixMillis) {
    this.#cell = cell;
    this.#now = now;
    this.#chain = new OperatorChain(cell);
    this.#select = selectActs(cell);
  }

  /** Oldest first. */
  async operators(): Promise<readonly Operator[]> {
    const rows = await this.#rows(`${this.#select} ORDER BY a.seq`);
    const ids = [...new Set(rows.map(({ operator_id: id }) => id))];
    const operators = await Promise.all(
      ids.map((id) => this.#operatorOf(rows.filter(({ operator_id: owner }) => owner === id))),
    );
    return operators.filter((operator) => operator !== undefined);
  }

  async operator(id: OperatorId): Promise<Operator | undefined> {
    return this.#operatorOf(await this.#rows(`${this.#select} WHERE a.operator_id = ? ORDER BY a.seq`, [id]));
  }

  /** Returns the operator whose key it is now. */
  async operatorWithKey(sha256: string): Promise<Operator | undefined> {
    const operator = await this.#operatorOf(await this.#actsOfOneWith("key_sha256 = ?", sha256));
    return operator?.keySha256 === sha256 ? operator : undefined;
  }

  /** Returns the operator whose passkey it is now. */
  async operatorWithPasskey(sha256: string): Promise<Operator | undefined> {
    const wanted = "passkey_sha256 = ? AND kind <> 'operator.passkey_removed'";
    const operator = await this.#operatorOf(await this.#actsOfOneWith(wanted, sha256));
    return operator?.passkeys.some((passkey) => passkey.sha256 === sha256) === true ? operator : undefined;
  }

  #actsOfOneWith(wanted: string, sha256: string): Promise<readonly ActRow[]> {
    const owner = `SELECT operator_id FROM ${this.#cell.engine.table("operator_acts")} WHERE ${wanted}`;
    return this.#rows(`${this.#select} WHERE a.operator_id IN (${owner}) ORDER BY a.seq`, [sha256]);
  }

  /** Returns the operator whose acts these are, if the chain has all of them. */
  async #operatorOf(rows: readonly ActRow[]): Promise<Operator | undefined> {
    const { engine, reader } = this.#cell;
    const linked = rows.map((row) => ({ ...row, ...chainedAct(row) }));
    const isKnown = this.#chain.has(linked, ({ sql, bindings }) => reader.rows(sql, bindings));
    return (await orStoreError(engine, isKnown)) ? operatorsOf(rows)[0] : undefined;
  }

  /** Newest first. */
  async acts({ size, beforeSeq = Number.MAX_SAFE_INTEGER }: ActsPage): Promise<readonly OperatorAct[]> {
    const rows = await this.#rows(`${this.#select} WHERE a.seq < ? ORDER BY a.seq DESC LIMIT ?`, [beforeSeq, size]);
    return rows.map((row) => ({
      seq: row.seq,
      kind: row.kind,
      operatorId: row.operator_id as OperatorId,
      passkeyId: row.passkey_sha256 === null ? undefined : passkeyIdOf(row.passkey_sha256),
      actor: row.actor as Actor,
      recordedAt: toUnixMillis(row.recorded_at),
    }));
  }

  /**
   * Returns what the act would change now. Rejects with a RefusedActError if it would be refused.
   * Otherwise a second person would be asked to approve what nobody can do.
   */
  async changesBy(act: OperatorsAct): Promise<readonly Change[]> {
    const rows = await this.#rows(`${this.#select} ORDER BY a.seq`);
    changeOf(act, rows);
    return changesIn(rows, act);
  }

  /** Rejects with a RefusedActError if a proposal would change something else by now. */
  async refuseOutdated(session: Session, { id: proposalId, act, shown }: ShownProposal): Promise<void> {
    const rows = await session.read({ sql: `${this.#select} ORDER BY a.seq`, bindings: [] });
    const outdated = outdatedIn(shown, changesIn(rows as readonly ActRow[], act));
    if (outdated !== undefined) throw new RefusedActError({ reason: "PROPOSAL_OUTDATED", proposalId, ...outdated });
  }

  /** Does one act. Rejects with a RefusedActError as the cause. */
  perform(act: OperatorsAct, { actor, first }: Authorship): Promise<{ resource: Operator; isNew: boolean }> {
    return inTransaction(this.#cell, async (session) => {
      // All changes of operators take turns, so names and keys cannot collide.
      await session.read({ sql: this.#cell.engine.administrationLock, bindings: [] });
      await first?.(session);
      const rows = await session.read<ActRow>({ sql: `${this.#select} ORDER BY a.seq`, bindings: [] });
      const change = changeOf(act, rows);
      const last = rows.at(-1);
      if (change !== undefined) await this.#append(session, { change, actor, last });
      const id = change?.operator_id ?? ("operatorId" in act ? act.operatorId : "");
      const after = await session.read<ActRow>({
        sql: `${this.#select} WHERE a.operator_id = ? ORDER BY a.seq`,
        bindings: [id],
      });
      const [resource] = operatorsOf(after);
      if (resource === undefined) throw new Error(`the act ${act.kind} left no operator`);
      return { resource, isNew: change !== undefined };
    });
  }

  async #append(
    session: Session,
    { change, actor, last }: { readonly change: RowOfAct; readonly actor: Actor; readonly last: ActRow | undefined },
  ): Promise<void> {
    const seq = (last?.seq ?? 0) + 1;
    const recordedAt = Math.max(this.#now(), last?.recorded_at ?? 0);
    const row = { ...change, seq, actor, recorded_at: recordedAt };
    const stored = { ...row, hash: hashOf(row, last?.hash ?? NO_HASH) };
    await session.write([insertOf(this.#cell.engine, "operator_acts", [stored])]);
    await this.#chain.append(session, chainedAct(row));
  }

  #rows(sql: string, bindings: readonly Binding[] = []): Promise<readonly ActRow[]> {
    return orStoreError(this.#cell.engine, this.#cell.reader.rows<ActRow>(sql, bindings));
  }
}

/** An act about operators, as people were shown it. */
interface ShownProposal {
  readonly id: ProposalId;
  readonly act: OperatorsAct;
  readonly shown: readonly Change[];
}

function changesIn(rows: readonly ActRow[], act: OperatorsAct): readonly Change[] {
  const operatorId = "operatorId" in act ? act.operatorId : undefined;
  const operator = operatorsOf(rows).find(({ id }) => id === operatorId);
  return changesOfAct(act, operator) ?? [];
}

/** Selects acts as `a`, with their rows of the chain. */
function selectActs({ engine }: Pick<Cell, "engine">): string {
  const { table, hex } = engine;
  const { columns, join } = chainColumns(engine, "'act:' || a.seq");
  return `
    SELECT a.seq, a.kind, a.operator_id, a.name, a.roles, a.key_sha256, a.passkey_sha256, a.actor,
      a.recorded_at, ${hex("a.hash")} AS hash, ${columns}
    FROM ${table("operator_acts")} a ${join}`;
}

function chainedAct(row: Omit<ActRow, "hash" | keyof Link>): Chained {
  return { subject: `act:${String(row.seq)}`, fields: fieldsOf(row) };
}

function fieldsOf(row: Omit<ActRow, "hash" | keyof Link>): readonly (string | number)[] {
  const { seq, kind, operator_id: id, name, roles, key_sha256: key, passkey_sha256: passkey } = row;
  const fields = [seq, kind, id, name ?? "", roles ?? "", key ?? "", row.actor, row.recorded_at];
  // Acts without a passkey are older than passkeys: their fields stay as they were.
  return passkey === null ? fields : [...fields, passkey];
}

function hashOf(row: Omit<ActRow, "hash" | keyof Link>, previous: string): string {
  return hash("sha256", previous + JSON.stringify([FORMAT, ...fieldsOf(row)]), "hex");
}
