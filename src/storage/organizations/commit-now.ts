import { typeidUnboxed } from "typeid-js";

import type { Authorized } from "../../domain/authority.js";
import type { OperatorCommand, ResourceOf } from "../../domain/operations.js";
import type { Decider } from "../../domain/proposal.js";
import type { Refusal } from "../../domain/refusal.js";
import { type Actor, OPERATOR } from "../../domain/values/actor.js";
import type { OrganizationId, ProposalId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { StoreError } from "../../ledger/ports/store.js";
import type { Cell } from "../database.js";
import { RefusedWriteError } from "../sql/store-error.js";
import { BookMovingError, ClockBehindError } from "./book-rows.js";

const CONFLICT_TRIES_MAX = 20;

/** Whose command it is when the machine acts: it needs no second person. */
export function byMachine(
  organizationId: OrganizationId,
  actor: Actor = OPERATOR,
): Pick<Authorized, "organizationId" | "actor" | "authority"> {
  const newProposalId = typeidUnboxed("prp") as string as ProposalId;
  return {
    organizationId,
    actor,
    authority: { person: actor as string as Decider, mayApprove: false, groups: [], newProposalId },
  };
}

/** The ledger refuses what a command wants. */
class RefusedCommandError extends RefusedWriteError {}

/** Returns the errors of `lockBook` for its refusals. */
function errorOf({ organizationId }: Authorized, refusal: Refusal): RefusedWriteError {
  if (refusal.reason === "BOOK_MOVING") return new BookMovingError(organizationId);
  if (refusal.reason === "CLOCK_BEHIND") return new ClockBehindError(organizationId, refusal.behindMillis);
  return new RefusedCommandError(refusal.reason);
}

/**
 * Commits a command beside the queue of a server. Rejects with a RefusedCommandError, or with a
 * StoreError if the database fails.
 */
export async function commitNow<C extends OperatorCommand>(
  { committer }: Pick<Cell, "committer">,
  command: C,
  now: UnixMillis,
): Promise<{ readonly resource: ResourceOf<C>; readonly replayed: boolean }> {
  for (let tries = 1; ; tries += 1) {
    try {
      const [result] = await committer.commit([command], now);
      // decide() returns the type of resource that belongs to the command.
      if (result?.kind === "done") return { resource: result.resource as ResourceOf<C>, replayed: result.replayed };
      throw result?.kind === "refused" ? errorOf(command, result.refusal) : result?.error;
    } catch (error) {
      const isConflict = error instanceof StoreError && error.kind === "conflict";
      if (!isConflict || tries === CONFLICT_TRIES_MAX) throw error;
    }
  }
}
