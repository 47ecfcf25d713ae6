import type { VNode } from "preact";

import { Changes, differs, Value } from "../acts/act-form.js";
import { Acts } from "../acts/act-links.js";
import { type Change, changesIn, effectOf, REASON } from "../acts/proposal-words.js";
import { type Subjects, subjectsOf } from "../acts/subjects.js";
import type { GetProposalResponse, Proposal } from "../gen/messages.js";
import { type Page, type Visit, within } from "../page.js";
import { usersOf } from "../upstream/rows.js";
import type { ReadingOf } from "../upstream/upstream.js";
import { Link, pathWith } from "../view/link.js";
import { Customer } from "../view/lists.js";
import { type Column, Facts, More, Refused, Section, Table } from "../view/parts.js";
import { PayoutPreview } from "../view/payout-preview.js";
import { Age, ageText, Id, Person, Status, Text, Time } from "../view/values.js";

const ROWS = 50;

/** What waits for me? The soonest to lapse is first. */
export const approvalsPage: Page = {
  path: "/approvals",
  async show(visit) {
    const { path, query, person } = visit;
    const [forMe, waiting, all] = await Promise.all([
      visit.read("AdminService/ListProposals", { for_me: true, page_size: ROWS }),
      visit.read("AdminService/ListProposals", { page_size: ROWS }),
      visit.read("AdminService/ListProposals", {
        include_closed: true,
        page_size: ROWS,
        page_token: query.get("page") ?? "",
      }),
    ]);
    const mine = new Set(forMe.ok ? forMe.value.proposals.map(({ id }) => id) : []);
    const shown = [forMe, waiting, all].flatMap((each) => (each.ok ? each.value.proposals : []));
    const users = await usersOf(
      visit,
      shown.map((proposal) => accountOf(visit, proposal)),
    );
    const list = (rows: readonly Proposal[], empty: string): VNode => (
      <WaitingList visit={visit} users={users} rows={soonestFirst(rows)} empty={empty} />
    );
    return {
      title: "Approvals",
      body: (
        <>
          <h1>Approvals</h1>
          <Section title="For you" reading={forMe} retry={path}>
            {({ proposals }) => list(proposals, "Nothing is waiting for you.")}
          </Section>
          <Section title="For others" reading={waiting} retry={path}>
            {({ proposals }) => (
              <>
                <h3>Proposed by you</h3>
                {list(
                  proposals.filter(({ proposed_by }) => proposed_by === person.id),
                  "None of your proposals is waiting.",
                )}
                <h3>Proposed by others</h3>
                {list(
                  proposals.filter(({ id, proposed_by }) => proposed_by !== person.id && !mine.has(id)),
                  "No other proposal is waiting.",
                )}
              </>
            )}
          </Section>
          <Section title="Decided, the newest proposal first" reading={all} retry={path}>
            {({ proposals, next_page_token: token }) => (
              <>
                <DecidedList visit={visit} users={users} rows={proposals.filter((each) => !isWaiting(each))} />
                <More to={token === null ? undefined : pathWith(path, { page: token })} isEmpty={false} />
              </>
            )}
          </Section>
        </>
      ),
    };
  },
};

/** Returns the account that a proposal of the visited organization is about, or null. */
function accountOf(visit: Visit, { organization_id, subject_id }: Proposal): string | null {
  return organization_id === visit.organization?.id && subject_id?.startsWith("acc_") === true ? subject_id : null;
}

function isWaiting({ state }: Proposal): boolean {
  return state === "pending";
}

/** One that never lapses is last. */
function soonestFirst(proposals: readonly Proposal[]): readonly Proposal[] {
  return proposals.toSorted((one, other) => (one.expires_at ?? "9").localeCompare(other.expires_at ?? "9"));
}

type Users = Awaited<ReturnType<typeof usersOf>>;

interface ProposalListProps {
  readonly visit: Visit;
  /** The user_ids of the accounts that the proposals are about. */
  readonly users: Users;
  readonly rows: readonly Proposal[];
  readonly empty?: string;
}

function columnsOf({ visit, users }: Pick<ProposalListProps, "visit" | "users">): readonly Column<Proposal>[] {
  return [
    {
      head: "What",
      cell: (row) => (
        <Link to={within(visit, `/approvals/${row.id}`)}>
          <Text>{effectOf(row)}</Text>
        </Link>
      ),
    },
    {
      head: "About",
      cell: (row) =>
        row.subject_id === null || row.organization_id !== visit.organization?.id ? (
          <Named visit={visit} proposal={row} />
        ) : (
          <Customer visit={visit} row={{ account_id: row.subject_id, user_id: users.get(row.subject_id) ?? null }} />
        ),
    },
    { head: "Proposed by", cell: (row) => <Person id={row.proposed_by} name={row.proposer_name} /> },
  ];
}

function WaitingList({ rows, empty = "", ...of }: ProposalListProps): VNode {
  const columns: readonly Column<Proposal>[] = [
    ...columnsOf(of),
    { head: "Since", cell: ({ proposed_at }) => <Age since={proposed_at} />, isMinor: true },
    { head: "Lapses in", cell: ({ expires_at }) => (expires_at === null ? "never" : <Left until={expires_at} />) },
  ];
  return <Table columns={columns} rows={rows} empty={empty} />;
}

function DecidedList({ rows, ...of }: ProposalListProps): VNode {
  const columns: readonly Column<Proposal>[] = [
    ...columnsOf(of),
    { head: "State", cell: ({ state }) => <Status>{state}</Status> },
    { head: "By", cell: (row) => deciderOf(row), isMinor: true },
    { head: "When", cell: ({ decided_at }) => <Time>{decided_at}</Time>, isMinor: true },
  ];
  return <Table columns={columns} rows={rows} empty="Nothing was decided yet." />;
}

function deciderOf({ decided_by: id, decider_name: name }: Proposal): VNode | null {
  return id === null ? null : <Person id={id} name={name ?? id} />;
}

/** How long it is until a moment. */
function Left({ until }: { readonly until: string }): VNode {
  return <>{ageText((Date.parse(until) - Date.now()) / 1_000)}</>;
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

/** One proposal: who wants what and why, what stands now, and what would be. */
export const proposalPage: Page = {
  path: "/approvals/:prp",
  async show(visit) {
    const proposal_id = visit.ids["prp"] ?? "";
    const reading = await visit.read("AdminService/GetProposal", { proposal_id, compare: true });
    if (!reading.ok) {
      if (reading.refusal.reason === "PROPOSAL_NOT_FOUND") return undefined;
      return { title: "Proposal", body: <Refused refusal={reading.refusal} /> };
    }
    const { proposal } = reading.value;
    const known = visit.organizations.find(({ id }) => id === proposal.organization_id);
    if (visit.organization === undefined && known !== undefined)
      return { redirect: within({ organization: known }, visit.path) };
    const [subjects, payouts] = await Promise.all([subjectsOf(visit, proposal), payoutsIn(visit, proposal)]);
    return {
      title: "Proposal",
      waitsFor: isWaiting(proposal) ? proposal_id : undefined,
      body: <One visit={visit} compared={reading.value} subjects={subjects} payouts={payouts} />,
    };
  },
};

interface OneProps {
  readonly visit: Visit;
  readonly compared: GetProposalResponse;
  readonly subjects: Subjects;
  /** The file that the proposal is about, as its proposer saw it. Undefined for another act. */
  readonly payouts: ReadingOf<"AdminService/GetPayouts"> | undefined;
}

/** Reads the file of payouts whose SHA-256 the proposal shows. */
async function payoutsIn(visit: Visit, { type, changes, organization_id: id }: Proposal): Promise<OneProps["payouts"]> {
  const sha256 = changes.find(({ after }) => /^[0-9a-f]{64}$/.test(after))?.after;
  if (type !== "payFile" || sha256 === undefined) return undefined;
  return visit.read("AdminService/GetPayouts", { sha256 }, id ?? undefined);
}

function One({ visit, compared: { proposal, standing, refusal }, subjects, payouts }: OneProps): VNode {
  const { id, subject_id, state } = proposal;
  const changes = changesIn(proposal).filter(isNoReason);
  const now = changesIn({ changes: standing }).filter(isNoReason);
  const isOutdated = now.length > 0 && !isSame(changes, now);
  return (
    <>
      <h1>
        <Text>{effectOf(proposal)}</Text> <Status>{state}</Status>
      </h1>
      {isOutdated ? null : <p class="lead">{leadOf(visit, proposal)}</p>}
      {isOutdated ? (
        <div class="verdict bad" role="status">
          <h2>Something else stands by now</h2>
          <p>
            An approval would be refused, and nothing would be done. Reject it. If it is still wanted, propose it again.
          </p>
        </div>
      ) : null}
      {refusal === null ? null : (
        <div class="verdict wait" role="status">
          <h2>It cannot be done now</h2>
          <p>
            <Text>{refusal}</Text>
          </p>
        </div>
      )}
      <ProposalFacts {...{ visit, proposal, subjects }} />
      <section>
        <h2>{isWaiting(proposal) ? "Proposed change" : "What was proposed"}</h2>
        <Changes {...{ visit, subjects, changes }} of="proposal" standing={isOutdated ? now : []} />
        {isWaiting(proposal) && !isOutdated ? (
          <p>If something else stands at the moment of the approval, it is refused, and nothing is done.</p>
        ) : null}
      </section>
      {payouts === undefined ? null : (
        <Section title="The file, as its proposer saw it" reading={payouts} retry={visit.path}>
          {({ preview }) => <PayoutPreview preview={preview} />}
        </Section>
      )}
      {isWaiting(proposal) ? (
        <Acts
          visit={visit}
          acts={[
            // Nobody approves an own proposal, nor what changes the own power.
            ...(isOutdated || [proposal.proposed_by, subject_id].includes(visit.person.id)
              ? []
              : [["approve", { proposal_id: id }] as const]),
            ["reject", { proposal_id: id }],
          ]}
        />
      ) : null}
    </>
  );
}

interface FactsProps extends Pick<OneProps, "visit" | "subjects"> {
  readonly proposal: Proposal;
}

function ProposalFacts({ visit, proposal, subjects }: FactsProps): VNode {
  const { id, subject_id, proposed_by, proposer_name, proposed_at, expires_at, decided_at } = proposal;
  const about = subjects.get(subject_id ?? "");
  const why = proposal.changes.find(({ what }) => what === REASON)?.after;
  return (
    <Facts
      facts={{
        "Proposed by": <Person id={proposed_by} name={proposer_name} />,
        About: about === undefined ? null : <Value visit={visit} text={subject_id ?? ""} subject={about} />,
        Organization: <OrganizationLink visit={visit} proposal={proposal} />,
        Why: why ?? null,
        Proposed: (
          <>
            <Time>{proposed_at}</Time>, <Age since={proposed_at} /> ago
          </>
        ),
        "Lapses if nobody decides":
          expires_at === null || !isWaiting(proposal) ? null : (
            <>
              <Time>{expires_at}</Time>, in <Left until={expires_at} />
            </>
          ),
        "Decided by": deciderOf(proposal),
        Decided: decided_at === null ? null : <Time>{decided_at}</Time>,
        Id: <Id>{id}</Id>,
      }}
    />
  );
}

function isNoReason([name]: Change): boolean {
  return name !== REASON;
}

function isSame(asked: readonly Change[], now: readonly Change[]): boolean {
  return (
    asked.length === now.length &&
    asked.every((change) => now.some((other) => other[0] === change[0] && !differs(change, other)))
  );
}

function OrganizationLink({ visit, proposal }: Pick<OneProps, "visit"> & { readonly proposal: Proposal }): VNode {
  const named = <Named visit={visit} proposal={proposal} />;
  const { organization_id: id } = proposal;
  return visit.organizations.some((each) => each.id === id) ? <Link to={`/${id ?? ""}`}>{named}</Link> : named;
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
