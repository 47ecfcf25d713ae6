import type { Acted } from "../../src/domain/authority.js";
import type { Operator } from "../../src/domain/operator.js";
import type { PersonAct } from "../../src/domain/people/operations.js";
import type { Decider } from "../../src/domain/proposal.js";
import type { ProposalId } from "../../src/domain/values/ids.js";
import { NO_REASON } from "../../src/domain/values/text.js";
import type { CommandFields } from "../../src/grpc/services/acts.js";
import { commandOf } from "../../src/grpc/services/proposals/commands-of-proposals.js";
import type { Outcome } from "../../src/ledger/ports/outcome.js";
import { ofHouse } from "../../src/operators/authority.js";
import type { StoredAdministration } from "../../src/storage/operators/administration.js";

/** Submits an act about an operator, of a person or of the machine. */
export async function actOn(
  stored: StoredAdministration,
  fields: CommandFields<PersonAct>,
  by?: Operator,
): Promise<Outcome<Acted<Operator>>> {
  return stored.submit({ ...fields, ...(await ofHouse(stored, by)) });
}

/** Decides a proposal about an operator. Returns "done", or the reason of the refusal. */
export async function decideOn(
  stored: StoredAdministration,
  decision: "approve" | "reject",
  { id, by }: { readonly id: ProposalId; readonly by: Operator },
): Promise<string> {
  const found = await stored.foundProposal(id);
  if (found === undefined) return "PROPOSAL_NOT_FOUND";
  const { authority, ...own } = await ofHouse(stored, by);
  const person = by.id as string as Decider;
  const outcome =
    decision === "reject"
      ? await stored.submit({ name: "rejectProposal", proposalId: id, subject: id, person, note: NO_REASON, ...own })
      : await stored.submit(
          commandOf(found.proposal, {
            ...own,
            authority: { ...authority, approves: id },
            note: NO_REASON,
          }) as PersonAct,
        );
  return outcome.kind === "refused" ? outcome.refusal.reason : outcome.kind;
}
