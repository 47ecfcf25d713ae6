import { type Operator, passkeyIdOf, type PersonChange } from "../../domain/operator.js";
import { decideAboutPeople, type PersonCommand, type ResourceOfPerson } from "../../domain/people/operations.js";
import { operatorsOf, People, unlessLapsed } from "../../domain/people/people.js";
import type { Proposal } from "../../domain/proposal.js";
import type { Refusal } from "../../domain/refusal.js";
import type { OperatorId, ProposalId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Outcome } from "../../ledger/ports/outcome.js";
import { type ActsPage, BEYOND_PROPOSALS, type OperatorAct, type ProposalsPage } from "../../operators/ports.js";
import type { Cell } from "../database.js";
import type { Binding, Session } from "../sql/engine.js";
import { insertOf } from "../sql/insert.js";
import { inTransaction, readRows } from "../sql/store-error.js";
import { OperatorChain } from "./operator-chain.js";
import {
  type ActRow,
  chainedAct,
  chainedDecision,
  chainedProposal,
  changeOf,
  type PersonProposalRow,
  proposalOf,
  rowOfChange,
  rowOfDecision,
  rowOfProposal,
  selectActs,
  selectProposals,
} from "./person-rows.js";

const OF_OPERATOR = `
  (a.operator_id = ? OR replace(',' || a.actor || ',', ',' || ? || ',', '') <> ',' || a.actor || ',')`;

/** What must be done with a command about people, or not at all. */
export interface Together {
  /** Why it cannot be done. Asked before the command is decided. */
  refusal(session: Session): Promise<Refusal | undefined>;
  write(session: Session): Promise<void>;
}

/**
 * The people of the database. What was done about them stands in the first cell, and says all that
 * is known about them. An operator with an act that the chain lacks is none, and so is a proposal:
 * somebody wrote it past the service.
 */
export class StoredPeople {
  readonly #cell: Cell;
  readonly #now: () => UnixMillis;
  readonly #chain: OperatorChain;

  constructor(cell: Cell, now: () => UnixMillis) {
    this.#cell = cell;
    this.#now = now;
    this.#chain = new OperatorChain(cell);
  }

  /** Oldest first. */
  async operators(): Promise<readonly Operator[]> {
    return this.#believed(await this.#acts("ORDER BY a.seq"));
  }

  async operator(id: OperatorId): Promise<Operator | undefined> {
    return (await this.#believed(await this.#acts("WHERE a.operator_id = ? ORDER BY a.seq", [id])))[0];
  }

  /** Returns the operator whose key it is now. */
  async operatorWithKey(sha256: string): Promise<Operator | undefined> {
    const operator = await this.#operatorOnceWith("key_sha256 = ?", sha256);
    return operator?.keySha256 === sha256 ? operator : undefined;
  }

  /** Returns the operator whose passkey it is now. */
  async operatorWithPasskey(sha256: string): Promise<Operator | undefined> {
    const operator = await this.#operatorOnceWith("passkey_sha256 = ? AND kind <> 'operator.passkey_removed'", sha256);
    return operator?.passkeys.some((passkey) => passkey.sha256 === sha256) === true ? operator : undefined;
  }

  async #operatorOnceWith(wanted: string, sha256: string): Promise<Operator | undefined> {
    const ids = `SELECT operator_id FROM ${this.#cell.engine.table("operator_acts")} WHERE ${wanted}`;
    return (await this.#believed(await this.#acts(`WHERE a.operator_id IN (${ids}) ORDER BY a.seq`, [sha256])))[0];
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
    const rows = await this.#acts(wanted, [...given.flatMap(([, bindings]) => bindings), size]);
    return rows.map((row) => {
      const { passkeySha256, ...change } = changeOf(row);
      return {
        ...change,
        seq: row.seq,
        passkeyId: passkeySha256 === undefined ? undefined : passkeyIdOf(passkeySha256),
      };
    });
  }

  /** Returns one proposal, or a page of a list in its order. */
  async proposals(filter: { readonly id: ProposalId } | ProposalsPage): Promise<readonly Proposal[]> {
    const [wanted, bindings] = "id" in filter ? ["p.id = ?", [filter.id]] : listed(filter, this.#now());
    return this.#proposals(wanted, bindings, await this.operators());
  }

  /**
   * Commits a command about people. All changes of people take turns, so names and keys cannot
   * collide. Rejects with a StoreError if the database fails.
   */
  submit<C extends PersonCommand>(command: C, together?: Together): Promise<Outcome<ResourceOfPerson<C>>> {
    return inTransaction(this.#cell, async (session): Promise<Outcome<ResourceOfPerson<C>>> => {
      await session.read({ sql: this.#cell.engine.administrationLock, bindings: [] });
      const refusal = await together?.refusal(session);
      if (refusal !== undefined) return { kind: "refused", refusal };
      const acts = await this.#acts("ORDER BY a.seq", [], session);
      const clock = this.#now();
      const wanted = "p.id = ? OR (d.proposal_id IS NULL AND p.expires_at > ?)";
      const operators = await this.#believed(acts, session);
      const proposals = await this.#proposals(wanted, [proposalIn(command), clock], operators, session);
      const last = acts.at(-1);
      const now = Math.max(clock, last?.recorded_at ?? 0) as UnixMillis;
      const decision = decideAboutPeople(new People(acts.map(changeOf), proposals), command, now, clock);
      if (decision.kind === "refusal") return { kind: "refused", refusal: decision.refusal };
      const { effect, resource } = decision;
      if (command.dryRun !== true) {
        await together?.write(session);
        for (const put of effect.puts) if (put.table === "proposals") await this.#save(session, put.row);
        if (effect.person !== undefined) await this.#append(session, effect.person, (last?.seq ?? 0) + 1);
      }
      return { kind: "done", resource, replayed: decision.kind === "replay" };
    });
  }

  async #append(session: Session, change: PersonChange, seq: number): Promise<void> {
    const row = rowOfChange(change, seq);
    await session.write([insertOf(this.#cell.engine, "operator_acts", [row])]);
    await this.#chain.append(session, chainedAct(row));
  }

  /** The chain has the act, the proposal and the decision: there is no other journal. */
  async #save(session: Session, proposal: Proposal): Promise<void> {
    const { engine } = this.#cell;
    if (proposal.decided === undefined) {
      const row = rowOfProposal(proposal);
      await session.write([insertOf(engine, "operator_proposals", [row])]);
      await this.#chain.append(session, chainedProposal(row));
    } else {
      const row = rowOfDecision(proposal.id, proposal.decided);
      await session.write([insertOf(engine, "operator_decisions", [row])]);
      await this.#chain.append(session, chainedDecision(row));
    }
  }

  /** Returns the operators of these acts, but those with an act that the chain lacks. */
  async #believed(rows: readonly ActRow[], session?: Session): Promise<readonly Operator[]> {
    const known = new Set(await this.#chain.known(rows, chainedAct, session));
    const changed = new Set(rows.filter((row) => !known.has(row)).map((row) => row.operator_id));
    return operatorsOf(rows.filter((row) => !changed.has(row.operator_id)).map(changeOf));
  }

  async #proposals(
    wanted: string,
    bindings: readonly Binding[],
    operators: readonly Operator[],
    session?: Session,
  ): Promise<readonly Proposal[]> {
    const sql = `${selectProposals(this.#cell)} WHERE ${wanted}`;
    const rows = await readRows<PersonProposalRow>(this.#cell, sql, bindings, session);
    const known = await this.#chain.known(rows, chainedProposal, session);
    return known.map((row) => unlessLapsed(proposalOf(row), operators));
  }

  #acts(wanted: string, bindings: readonly Binding[] = [], session?: Session): Promise<readonly ActRow[]> {
    return readRows(this.#cell, `${selectActs(this.#cell)} ${wanted}`, bindings, session);
  }
}

/** The proposal that a command decides. */
function proposalIn(command: PersonCommand): string {
  return command.name === "rejectProposal" ? command.proposalId : (command.authority.approves ?? "");
}

function listed({ afterId, size, waits }: ProposalsPage, now: UnixMillis): [string, Binding[]] {
  if (waits === undefined) return ["p.id < ? ORDER BY p.id DESC LIMIT ?", [afterId ?? BEYOND_PROPOSALS, size]];
  const wanted = "p.id > ? AND d.proposal_id IS NULL AND p.expires_at > ? ORDER BY p.id LIMIT ?";
  return [wanted, [afterId ?? "", now, size]];
}
