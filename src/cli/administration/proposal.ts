import type { Command } from "commander";

import { type OperatorProposalId, parseOperatorProposalId } from "../../domain/values/ids.js";
import { OperatorError } from "../../startup/operator-error.js";
import { printJson, printLine, printTable, timeOf } from "../commands/output.js";
import type { NamedProposal } from "./client.js";
import { type ServerOptions, withAdministration, withServerOption } from "./open.js";

const WRONG_USAGE = 2;

/** `kesc proposal`: acts that wait for a second person. */
export function addProposal(program: Command): void {
  const proposal = program.command("proposal").description("acts of operators that wait for a second person");
  withServerOption(proposal.command("list"))
    .description("list the proposals that wait")
    .option("--all", "also those that were decided, or have lapsed")
    .option("--json", "print JSON, for scripts")
    .action(listProposals);
  withServerOption(proposal.command("approve"))
    .description("do what another person has proposed")
    .argument("<proposal-id>", 'id of the proposal ("prp_…")')
    .action((text: string, options: ServerOptions) => decide(text, "approve", options));
  withServerOption(proposal.command("reject"))
    .description("end a proposal; nothing is done")
    .argument("<proposal-id>", 'id of the proposal ("prp_…")')
    .action((text: string, options: ServerOptions) => decide(text, "reject", options));
}

interface ListProposalsOptions extends ServerOptions {
  readonly all?: true;
  readonly json?: true;
}

/** Oldest first. */
async function listProposals({ all, json, ...options }: ListProposalsOptions): Promise<void> {
  const proposals = await withAdministration(options, (administration) => administration.proposals());
  const listed = all === true ? proposals : proposals.filter(({ state }) => state === "PENDING");
  if (json === true) printJson(listed.map(proposalJson));
  else if (listed.length === 0) printLine("No proposal waits.");
  else {
    printTable([
      ["ID", "STATE", "UNTIL", "BY", "ACT"],
      ...listed.map((each) => [
        each.id,
        each.state.toLowerCase(),
        timeOf(each.expiresAt),
        each.proposerName,
        JSON.stringify(each.act),
      ]),
    ]);
  }
}

async function decide(text: string, decision: "approve" | "reject", options: ServerOptions): Promise<void> {
  const id = proposalIdOf(text);
  const { act, proposerName } = await withAdministration(options, (administration) =>
    administration.decide(id, decision),
  );
  printLine(
    decision === "approve"
      ? `Done, as ${proposerName} proposed: ${JSON.stringify(act)}`
      : `Rejected. Nothing was done: ${JSON.stringify(act)}`,
  );
}

function proposalIdOf(text: string): OperatorProposalId {
  const id = parseOperatorProposalId(text);
  if (!id.ok) throw new OperatorError(`The id of the proposal ${id.problem}.`, WRONG_USAGE);
  return id.value;
}

function proposalJson({ id, act, state, proposedBy, decidedBy, ...rest }: NamedProposal) {
  return {
    id,
    type: act.kind,
    content: act,
    state: state.toLowerCase(),
    proposed_by: proposedBy,
    proposer_name: rest.proposerName,
    proposed_at: timeOf(rest.proposedAt),
    expires_at: timeOf(rest.expiresAt),
    decided_by: decidedBy ?? null,
    decider_name: decidedBy === undefined ? null : rest.deciderName,
    decided_at: timeOf(rest.decidedAt),
  };
}
