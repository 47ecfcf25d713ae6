import { typeidUnboxed } from "typeid-js";

import type { Authorized } from "../../domain/authority.js";
import type { Command, ResourceOf } from "../../domain/operations.js";
import type { Decider } from "../../domain/proposal.js";
import { type Actor, OPERATOR } from "../../domain/values/actor.js";
import type { OrganizationId, ProposalId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Outcome } from "../../ledger/ports/outcome.js";
import { StoreError } from "../../ledger/ports/store.js";
import type { Cell } from "../database.js";
import { RefusedWriteError } from "../sql/store-error.js";

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

/** The ledger refuses a command that its caller takes for possible. */
export class RefusedCommandError extends RefusedWriteError {
  constructor(readonly refusal: Extract<Outcome<never>, { readonly kind: "refused" }>["refusal"]) {
    super(`the ledger refused: ${refusal.reason}`);
    this.name = "RefusedCommandError";
  }
}

/**
 * Commits one command, without the queue of a server: the `kesc` command on the database has none.
 * Rejects with a StoreError if the database fails.
 */
export async function commitNow<C extends Command>(
  { committer }: Pick<Cell, "committer">,
  command: C,
  now: UnixMillis,
): Promise<Outcome<ResourceOf<C>>> {
  for (let tries = 1; ; tries += 1) {
    try {
      const [result] = await committer.commit([command], now);
      if (result === undefined || result.kind === "bug") throw result?.error;
      // decide() returns the type of resource that belongs to the command.
      return result as Outcome<ResourceOf<C>>;
    } catch (error) {
      const isConflict = error instanceof StoreError && error.kind === "conflict";
      if (!isConflict || tries === CONFLICT_TRIES_MAX) throw error;
    }
  }
}

/** Commits a command so. Rejects with a RefusedCommandError if the ledger refuses it. */
export async function mustCommit<C extends Command>(
  ...given: Parameters<typeof commitNow<C>>
): Promise<Extract<Outcome<ResourceOf<C>>, { readonly kind: "done" }>> {
  const outcome = await commitNow(...given);
  if (outcome.kind === "refused") throw new RefusedCommandError(outcome.refusal);
  return outcome;
}
