import { hash } from "node:crypto";

import { type Change, type Outdated, outdatedIn } from "../../domain/change.js";
import type { Actor } from "../../domain/values/actor.js";
import type { OperatorId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { OPERATOR_ACTS } from "../../model/database.js";
import { type Act, changesOfAct } from "../../operators/act.js";
import { type Operator, passkeyIdOf } from "../../operators/operator.js";
import type { ActsPage, OperatorAct } from "../../operators/ports.js";
import type { Cell } from "../database.js";
import type { Authorship } from "../organizations/authorship.js";
import type { Binding, Session } from "../sql/engine.js";
import { insertOf } from "../sql/insert.js";
import { inTransaction, readRows } from "../sql/store-error.js";
import { chainColumns, type Chained, type Link, OperatorChain } from "./operator-chain.js";
import { changeOf, operatorsOf, type RecordedChange, type RowOfAct } from "./operator-changes.js";
import type { StoredProposal } from "./proposals.js";
import { RefusedActError } from "./refused.js";

type ActRow = Link & RecordedChange & Pick<RowOf<typeof OPERATOR_ACTS, string>, "seq" | "actor" | "hash">;

// The first text names the format, so that a later format cannot be mistaken for this one.
const FORMAT = "kesc-operator-act-1";
const NO_HASH = "";
const OF_OPERATOR = `
  (a.operator_id = ? OR replace(',' || a.actor || ',', ',' || ? || ',', '') <> ',' || a.actor || ',')`;

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
  operators(): Promise<readonly Operator[]> {
    return this.#operators("");
  }

  async operator(id: OperatorId): Promise<Operator | undefined> {
    return (await this.#operators("WHERE a.operator_id = ?", id))[0];
  }

  /** Returns the operator whose key it is now. */
  async operatorWithKey(sha256: string): Promise<Operator | undefined> {
    const [operator] = await this.#operators(this.#ofOneWith("key_sha256 = ?"), sha256);
    return operator?.keySha256 === sha256 ? operator : undefined;
  }

  /** Returns the operator whose passkey it is now. */
  async operatorWithPasskey(sha256: string): Promise<Operator | undefined> {
    const wanted = this.#ofOneWith("passkey_sha256 = ? AND kind <> 'operator.passkey_removed'");
    const [operator] = await this.#operators(wanted, sha256);
    return operator?.passkeys.some((passkey) => passkey.sha256 === sha256) === true ? operator : undefined;
  }

  #ofOneWith(wanted: string): string {
    return `WHERE a.operator_id IN (SELECT operator_id FROM ${this.#cell.engine.table("operator_acts")} WHERE ${wanted})`;
  }

  /** Returns the operators of these acts, but those with an act that the chain lacks. */
  async #operators(wanted: string, ...bindings: readonly Binding[]): Promise<readonly Operator[]> {
    const rows = await this.#rows(`${wanted} ORDER BY a.seq`, bindings);
    const known = new Set(await this.#chain.known(rows, chainedAct));
    const changed = new Set(rows.filter((row) => !known.has(row)).map((row) => row.operator_id));
    return operatorsOf(rows.filter((row) => !changed.has(row.operator_id)));
  }

  /** Newest first. */
  async acts({ size, beforeSeq, operatorId = "", kind = "" }: ActsPage): Promise<readonly OperatorAct[]> {
    const given: readonly (readonly [sql: string, bindings: readonly Binding[]])[] = [
      ["a.seq < ?", [beforeSeq ?? Number.MAX_SAFE_INTEGER]],
      // An act that was approved has two ids as its actor.
      ...(operatorId === "" ? [] : [[OF_OPERATOR, [operatorId, operatorId]] as const]),
      ...(kind === "" ? [] : [["a.kind = ?", [kind]] as const]),
    ];
    const wanted = `WHERE ${given.map(([sql]) => sql).join(" AND ")} ORDER BY a.seq DESC LIMIT ?`;
    const rows = await this.#rows(wanted, [...given.flatMap(([, bindings]) => bindings), size]);
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
  async changesBy(act: Act): Promise<readonly Change[]> {
    const rows = await this.#rows("ORDER BY a.seq");
    changeOf(act, rows);
    return changesIn(rows, act);
  }

  /**
   * Rejects with a RefusedActError if a proposal would change something else by now, or if a later
   * act is about the same operator, whatever that act has left. The chain has the order of both.
   */
  async refuseOutdated(session: Session, { id: proposalId, act, shown, link }: StoredProposal): Promise<void> {
    const rows = await this.#rows("ORDER BY a.seq", [], session);
    const outdated = outdatedIn(shown, changesIn(rows, act)) ?? laterAct(rows, act, link);
    if (outdated !== undefined) throw new RefusedActError({ reason: "PROPOSAL_OUTDATED", proposalId, ...outdated });
  }

  /** Does one act. Rejects with a RefusedActError as the cause. */
  perform(act: Act, { actor, first }: Authorship): Promise<{ resource: Operator; isNew: boolean }> {
    return inTransaction(this.#cell, async (session) => {
      // All changes of operators take turns, so names and keys cannot collide.
      await session.read({ sql: this.#cell.engine.administrationLock, bindings: [] });
      await first?.(session);
      const rows = await this.#rows("ORDER BY a.seq", [], session);
      const change = changeOf(act, rows);
      const done = change && (await this.#append(session, { change, actor, last: rows.at(-1) }));
      const id = change?.operator_id ?? ("operatorId" in act ? act.operatorId : "");
      const resource = operatorsOf(done === undefined ? rows : [...rows, done]).find((each) => each.id === id);
      if (resource === undefined) throw new Error(`the act ${act.kind} left no operator`);
      return { resource, isNew: change !== undefined };
    });
  }

  async #append(
    session: Session,
    { change, actor, last }: { readonly change: RowOfAct; readonly actor: Actor; readonly last: ActRow | undefined },
  ): Promise<RecordedChange> {
    const seq = (last?.seq ?? 0) + 1;
    const recordedAt = Math.max(this.#now(), last?.recorded_at ?? 0);
    const row = { ...change, seq, actor, recorded_at: recordedAt };
    const stored = { ...row, hash: hashOf(row, last?.hash ?? NO_HASH) };
    await session.write([insertOf(this.#cell.engine, "operator_acts", [stored])]);
    await this.#chain.append(session, chainedAct(row));
    return row;
  }

  #rows(wanted: string, bindings?: readonly Binding[], session?: Session): Promise<readonly ActRow[]> {
    return readRows(this.#cell, `${this.#select} ${wanted}`, bindings, session);
  }
}

function laterAct(rows: readonly ActRow[], act: Act, link: number): Outdated | undefined {
  const operatorId = "operatorId" in act ? act.operatorId : undefined;
  const later = rows.find((row) => row.operator_id === operatorId && (row.link_seq ?? 0) > link);
  const entry = (seq: number | null): string => `entry ${String(seq)} of the chain`;
  return later && { what: later.kind, before: entry(link), now: entry(later.link_seq) };
}

function changesIn(rows: readonly ActRow[], act: Act): readonly Change[] {
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

/** What a hash and the chain cover. */
type RecordedAct = Omit<ActRow, "hash" | keyof Link>;

function chainedAct(row: RecordedAct): Chained {
  return { subject: `act:${String(row.seq)}`, fields: fieldsOf(row) };
}

function fieldsOf(row: RecordedAct): readonly (string | number)[] {
  const { seq, kind, operator_id: id, name, roles, key_sha256: key, passkey_sha256: passkey } = row;
  const fields = [seq, kind, id, name ?? "", roles ?? "", key ?? "", row.actor, row.recorded_at];
  // Only acts about a passkey have this field.
  return passkey === null ? fields : [...fields, passkey];
}

function hashOf(row: RecordedAct, previous: string): string {
  return hash("sha256", previous + JSON.stringify([FORMAT, ...fieldsOf(row)]), "hex");
}
