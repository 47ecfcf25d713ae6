import type { VNode } from "preact";

import { type Visit, within } from "../page.js";
import type { ReadingOf } from "../upstream/upstream.js";
import { Link } from "../view/link.js";
import { Refused } from "../view/parts.js";
import { Age, Person, Text } from "../view/values.js";
import { effectOf } from "./proposal-words.js";

const ROWS = 20;

/** Reads the proposals about something that wait. Undefined if none waits in the organization. */
export async function standingOf(
  visit: Visit,
  subject_id: string,
): Promise<ReadingOf<"AdminService/ListProposals"> | undefined> {
  if (subject_id === "") return undefined;
  const overview = await visit.overview;
  if (overview?.ok === true && overview.value.waiting_proposals.count === 0) return undefined;
  const organization_id = visit.organization?.id;
  return visit.read("AdminService/ListProposals", { organization_id, subject_id, page_size: ROWS });
}

interface StandingProps {
  readonly visit: Visit;
  readonly reading: ReadingOf<"AdminService/ListProposals"> | undefined;
}

/** What waits for a second person about the thing of a page. */
export function Standing({ visit, reading }: StandingProps): VNode | null {
  if (reading === undefined) return null;
  if (!reading.ok) return <Refused refusal={reading.refusal} />;
  const { proposals } = reading.value;
  if (proposals.length === 0) return null;
  return (
    <div class="verdict wait">
      <h2>Waiting for approval</h2>
      <ul>
        {proposals.map((proposal) => (
          <li key={proposal.id}>
            <Link to={within(visit, `/approvals/${proposal.id}`)}>
              <Text>{effectOf(proposal)}</Text>
            </Link>
            , proposed by <Person id={proposal.proposed_by} name={proposal.proposer_name} />{" "}
            <Age since={proposal.proposed_at} /> ago
          </li>
        ))}
      </ul>
    </div>
  );
}
