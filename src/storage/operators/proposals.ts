import { hash } from "node:crypto";

import { typeidUnboxed } from "typeid-js";

import type { Change } from "../../domain/change.js";
import { PROPOSAL_OPEN_MILLIS, PROPOSALS_WAITING_MAX } from "../../domain/proposal.js";
import type { OperatorId, ProposalId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { OPERATOR_DECISIONS, OPERATOR_PROPOSALS } from "../../model/database.js";
import type { Act } from "../../operators/act.js";
import { BEYOND_PROPOSALS, type OperatorProposal, type ProposalsPage } from "../../operators/ports.js";
import type { Cell } from "../database.js";
import type { Authorship } from "../organizations/authorship.js";
import { readPart } from "../secrets/unreadable-row.js";
import type { Binding, Session } from "../sql/engine.js";
import { insertOf } from "../sql/insert.js";
import { inTransaction, readRows } from "../sql/store-error.js";
import { chainColumns, type Chained, type Link, OperatorChain } from "./operator-chain.js";
import { RefusedActError } from "./refused.js";

interface OperatorProposalRow extends Link, RowOf<typeof OPERATOR_PROPOSALS, string> {
  readonly decision: "APPROVED" | "REJECTED" | null;
  readonly decided_by: string | null;
  readonly decided_at: number | null;
}

type DecisionRow = Omit<RowOf<typeof OPERATOR_DECISIONS>, "hash">;

/** A proposal that lies in no book, with the hash that its decision covers. */
export interface StoredProposal extends OperatorProposal {
  readonly act: Act;
  /** What the act is to change. */
  readonly shown: readonly Change[];
  readonly proposedBy: OperatorId;
  /** Where the proposal stands in the chain. */
  readonly link: number;
  readonly hash: string;
}

/** The proposals about operators. They lie in the first cell. One that the chain lacks is none. */
export class OperatorProposals {
  readonly #cell: Cell;
  readonly #now: () => UnixMillis;
  readonly #chain: OperatorChain;
  readonly #select: string;

  constructor(cell: Cell, now: () => UnixMillis) {
    this.#cell = cell;
    this.#now = now;
    this.#chain = new OperatorChain(cell);
    const { table, hex } = cell.engine;
    const { columns, join } = chainColumns(cell.engine, "'proposal:' || p.id");
    this.#select = `
      SELECT p.id, p.content, p.proposed_by, p.proposed_at, p.expires_at, ${hex("p.hash")} AS hash,
        d.decision, d.decided_by, d.decided_at, ${columns}
      FROM ${table("operator_proposals")} p LEFT JOIN ${table("operator_decisions")} d ON d.proposal_id = p.id ${join}`;
  }

  /** Returns one proposal, or a page of a list in its order. */
  async list(filter: { readonly id: ProposalId } | ProposalsPage): Promise<readonly StoredProposal[]> {
    const [wanted, bindings] = "id" in filter ? ["p.id = ?", [filter.id]] : listed(filter, this.#now());
    const rows = await readRows<OperatorProposalRow>(this.#cell, `${this.#select} WHERE ${wanted}`, bindings);
    return (await this.#chain.known(rows, chainedProposal)).map((row) => proposalOf(row, this.#now()));
  }

  /**
   * Stores a proposal. An equal one of the same person that still waits is returned instead.
   * Rejects with a RefusedActError as the cause if the person has too many. `first` runs in the
   * transaction.
   */
  propose(
    act: Act & { readonly shown: readonly Change[] },
    by: OperatorId,
    first?: Authorship["first"],
  ): Promise<StoredProposal> {
    const { engine } = this.#cell;
    const content = JSON.stringify(act);
    return inTransaction(this.#cell, async (session) => {
      await session.read({ sql: engine.administrationLock, bindings: [] });
      await first?.(session);
      const now = this.#now();
      const sql = `${this.#select} WHERE d.proposal_id IS NULL AND p.proposed_by = ? AND p.expires_at > ?`;
      const rows = await session.read<OperatorProposalRow>({ sql, bindings: [by, now] });
      const lastAct = await this.#lastActAbout(session, "operatorId" in act ? act.operatorId : "");
      const equal = rows.find((row) => row.content === content && (row.link_seq ?? 0) > lastAct);
      if (equal !== undefined) return proposalOf(equal, now);
      if (rows.length >= PROPOSALS_WAITING_MAX) {
        throw new RefusedActError({ reason: "TOO_MANY_PROPOSALS", limit: PROPOSALS_WAITING_MAX });
      }
      const id = typeidUnboxed("prp");
      const row = { id, content, proposed_by: by, proposed_at: now, expires_at: now + PROPOSAL_OPEN_MILLIS };
      const chained = chainedProposal(row);
      const digest = digestOf("kesc-proposal-1", ...chained.fields);
      await session.write([insertOf(engine, "operator_proposals", [{ ...row, hash: digest }])]);
      const link = await this.#chain.append(session, chained);
      const decision = { decision: null, decided_by: null, decided_at: null };
      return proposalOf({ ...row, ...decision, hash: digest, link_seq: link }, now);
    });
  }

  /** A proposal that is older than this place of the chain is outdated. */
  async #lastActAbout(session: Session, operatorId: string): Promise<number> {
    const { table } = this.#cell.engine;
    const sql = `
      SELECT COALESCE(MAX(c.seq), 0) AS seq FROM ${table("operator_acts")} a
      JOIN ${table("operator_chain")} c ON c.subject = 'act:' || a.seq WHERE a.operator_id = ?`;
    const [row] = await session.read<{ readonly seq: number }>({ sql, bindings: [operatorId] });
    return row?.seq ?? 0;
  }

  /**
   * Writes a decision within the transaction of `session`. Rejects with a RefusedActError if
   * another one stands, or if the proposal has expired.
   */
  async decide(
    session: Session,
    { id, hash: proposalHash }: StoredProposal,
    { decision, by }: { readonly decision: "APPROVED" | "REJECTED"; readonly by: OperatorId },
  ): Promise<void> {
    const { engine } = this.#cell;
    await session.read({ sql: engine.administrationLock, bindings: [] });
    const now = this.#now();
    const rows = await session.read<OperatorProposalRow>({ sql: `${this.#select} WHERE p.id = ?`, bindings: [id] });
    for (const row of rows) refuseClosed(proposalOf(row, now));
    const decided = { proposal_id: id, decision, decided_by: by, decided_at: now };
    const digest = digestOf("kesc-decision-1", proposalHash, decision, by, now);
    await session.write([insertOf(engine, "operator_decisions", [{ ...decided, hash: digest }])]);
    await this.#chain.append(session, chainedDecision(decided));
  }
}

/** Throws a RefusedActError unless the proposal waits. */
export function refuseClosed({ id: proposalId, state }: StoredProposal): void {
  if (state !== "PENDING") throw new RefusedActError({ reason: "PROPOSAL_CLOSED", proposalId, state });
}

function listed({ afterId, size, waits }: ProposalsPage, now: UnixMillis): [string, Binding[]] {
  if (waits === undefined) return ["p.id < ? ORDER BY p.id DESC LIMIT ?", [afterId ?? BEYOND_PROPOSALS, size]];
  const wanted = "p.id > ? AND d.proposal_id IS NULL AND p.expires_at > ? ORDER BY p.id LIMIT ?";
  return [wanted, [afterId ?? "", now, size]];
}

function chainedProposal(
  row: Pick<OperatorProposalRow, "id" | "content" | "proposed_by" | "proposed_at" | "expires_at">,
): Chained {
  const fields = [row.id, row.content, row.proposed_by, row.proposed_at, row.expires_at];
  return { subject: `proposal:${row.id}`, fields };
}

function chainedDecision({ proposal_id: id, decision, decided_by: by, decided_at: at }: DecisionRow): Chained {
  return { subject: `decision:${id}`, fields: [id, decision, by, at] };
}

function digestOf(...fields: readonly (string | number)[]): string {
  return hash("sha256", JSON.stringify(fields), "hex");
}

function proposalOf(row: Omit<OperatorProposalRow, "mac" | "previous_mac">, now: UnixMillis): StoredProposal {
  const { shown, ...act } = readPart(
    `content of ${row.id}`,
    () => JSON.parse(row.content) as Act & Pick<StoredProposal, "shown">,
  );
  return {
    id: row.id as ProposalId,
    type: act.kind,
    content: row.content,
    organizationId: undefined,
    act,
    shown,
    proposedBy: row.proposed_by as OperatorId,
    proposedAt: toUnixMillis(row.proposed_at),
    expiresAt: toUnixMillis(row.expires_at),
    state: row.decision ?? (row.expires_at > now ? "PENDING" : "LAPSED"),
    decidedBy: row.decided_by ?? undefined,
    decidedAt: row.decided_at === null ? undefined : toUnixMillis(row.decided_at),
    link: row.link_seq ?? 0,
    hash: row.hash,
  };
}
