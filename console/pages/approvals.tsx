import type { VNode } from "preact";

import { Changes, Value } from "../acts/act-form.js";
import { Acts } from "../acts/act-links.js";
import { changesIn, effectOf } from "../acts/proposal-words.js";
import { type Subjects, subjectsOf } from "../acts/subjects.js";
import type { Proposal } from "../gen/messages.js";
import { type Page, type Visit, within } from "../page.js";
import { Short } from "../view/journal.js";
import { Link, pathWith } from "../view/link.js";
import { type Column, Facts, More, Refused, Section, Table } from "../view/parts.js";
import { Age, Id, Status, Text, Time } from "../view/values.js";

const ROWS = 50;

/** What waits for me? */
export const approvalsPage: Page = {
  path: "/approvals",
  async show(visit) {
    const { path, query, person } = visit;
    const [forMe, all] = await Promise.all([
      visit.read("AdminService/ListProposals", { for_me: true, page_size: ROWS }),
      visit.read("AdminService/ListProposals", {
        include_closed: true,
        page_size: ROWS,
        page_token: query.get("page") ?? "",
      }),
    ]);
    const mine = new Set(forMe.ok ? forMe.value.proposals.map(({ id }) => id) : []);
    const list = (rows: readonly Proposal[], empty: string): VNode => (
      <ProposalList visit={visit} rows={rows} empty={empty} />
    );
    return {
      title: "Approvals",
      body: (
        <>
          <h1>Approvals</h1>
          <Section title="For you" reading={forMe} retry={path}>
            {({ proposals }) => list(proposals, "Nothing is waiting for you.")}
          </Section>
          <Section title="All others" reading={all} retry={path}>
            {({ proposals, next_page_token: token }) => {
              const own = proposals.filter((each) => isWaiting(each) && each.proposed_by === person.id);
              const others = proposals.filter(
                (each) => isWaiting(each) && each.proposed_by !== person.id && !mine.has(each.id),
              );
              return (
                <>
                  <h3>Proposed by you</h3>
                  {list(own, "None of your proposals is waiting.")}
                  <h3>Proposed by others</h3>
                  {list(others, "No other proposal is waiting.")}
                  <h3>Decided</h3>
                  {list(
                    proposals.filter((each) => !isWaiting(each)),
                    "Nothing was decided yet.",
                  )}
                  <More to={token === null ? undefined : pathWith(path, { page: token })} isEmpty={false} />
                </>
              );
            }}
          </Section>
        </>
      ),
    };
  },
};

function isWaiting({ state }: Proposal): boolean {
  return state === "pending";
}

interface ProposalListProps {
  readonly visit: Visit;
  readonly rows: readonly Proposal[];
  readonly empty: string;
}

function ProposalList({ visit, rows, empty }: ProposalListProps): VNode {
  const columns: readonly Column<Proposal>[] = [
    {
      head: "What",
      cell: (row) => (
        <Link to={within(visit, `/approvals/${row.id}`)}>
          <Text>{effectOf(row)}</Text>
        </Link>
      ),
    },
    { head: "Organization", cell: (row) => <Named visit={visit} proposal={row} />, isMinor: true },
    {
      head: "About",
      cell: ({ organization_id, subject_id }) =>
        subject_id === null || organization_id !== visit.organization?.id ? null : (
          <Short visit={visit} id={subject_id} />
        ),
      isMinor: true,
    },
    { head: "Proposed by", cell: ({ proposer_name }) => proposer_name },
    { head: "Since", cell: ({ proposed_at }) => <Age since={proposed_at} />, isMinor: true },
    { head: "State", cell: ({ state }) => <Status>{state}</Status> },
  ];
  return <Table columns={columns} rows={rows} empty={empty} />;
}

function Named({
  visit,
  proposal: { organization_id: id },
}: {
  readonly visit: Visit;
  readonly proposal: Proposal;
}): VNode {
  if (id === null) return <>the operators</>;
  const organization = visit.organizations.find((each) => each.id === id);
  return organization === undefined ? <Id>{id}</Id> : <Text>{organization.name}</Text>;
}

/** One proposal, field by field. */
export const proposalPage: Page = {
  path: "/approvals/:prp",
  async show(visit) {
    const proposal_id = visit.ids["prp"] ?? "";
    const reading = await visit.read("AdminService/GetProposal", { proposal_id });
    if (!reading.ok) {
      if (reading.refusal.reason === "PROPOSAL_NOT_FOUND") return undefined;
      return { title: "Proposal", body: <Refused refusal={reading.refusal} /> };
    }
    const { proposal } = reading.value;
    const known = visit.organizations.find(({ id }) => id === proposal.organization_id);
    if (visit.organization === undefined && known !== undefined)
      return { redirect: within({ organization: known }, visit.path) };
    const subjects = await subjectsOf(visit, proposal);
    return {
      title: "Proposal",
      waitsFor: isWaiting(proposal) ? proposal_id : undefined,
      body: <One visit={visit} proposal={proposal} subjects={subjects} />,
    };
  },
};

interface OneProps {
  readonly visit: Visit;
  readonly proposal: Proposal;
  readonly subjects: Subjects;
}

function One({ visit, proposal, subjects }: OneProps): VNode {
  const { id, subject_id, content, state, proposer_name, proposed_at, expires_at, decider_name, decided_at } = proposal;
  const about = subjects.get(subject_id ?? "");
  const changes = changesIn(proposal);
  return (
    <>
      <h1>
        <Text>{effectOf(proposal)}</Text> <Status>{state}</Status>
      </h1>
      <p class="lead">{leadOf(visit, proposal)}</p>
      <Facts
        facts={{
          About: about === undefined ? null : <Value visit={visit} text={subject_id ?? ""} subject={about} />,
          Organization: <Named visit={visit} proposal={proposal} />,
          "Proposed by": proposer_name,
          Asked: <Time>{proposed_at}</Time>,
          Expires: expires_at === null || !isWaiting(proposal) ? null : <Time>{expires_at}</Time>,
          "Decided by": decider_name,
          Decided: decided_at === null ? null : <Time>{decided_at}</Time>,
          Id: <Id>{id}</Id>,
        }}
      />
      <section>
        <h2>{isWaiting(proposal) ? "Proposed change" : "What was proposed"}</h2>
        {changes.length === 0 ? <Text>{content}</Text> : <Changes {...{ visit, subjects, changes }} of="proposal" />}
        {isWaiting(proposal) ? (
          <p>If something else stands by now, the approval is refused, and nothing is done.</p>
        ) : null}
      </section>
      {isWaiting(proposal) ? (
        <Acts
          visit={visit}
          acts={[
            // Nobody approves an own proposal, nor what changes the own power.
            ...([proposal.proposed_by, subject_id].includes(visit.person.id)
              ? []
              : [["approve", { proposal_id: id }] as const]),
            ["reject", { proposal_id: id }],
          ]}
        />
      ) : null}
    </>
  );
}

const MAY_APPROVE: ReadonlySet<string> = new Set(["approver", "admin"]);

function leadOf(visit: Visit, proposal: Proposal): string {
  if (!isWaiting(proposal))
    return proposal.state === "approved" ? "It was done at the moment of the approval." : "Nothing was done.";
  if (proposal.proposed_by === visit.person.id) return "Another person must approve. Send the link of this page.";
  if (proposal.subject_id === visit.person.id) return "It is about yourself, so another person must approve.";
  return visit.person.roles.some((role) => MAY_APPROVE.has(role))
    ? "It waits for a second person. You can be that person."
    : "It waits for a second person, with the role approver.";
}
