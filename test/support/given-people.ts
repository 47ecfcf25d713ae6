import type { Acted, Authority } from "../../src/domain/authority.js";
import type { Decision } from "../../src/domain/decision.js";
import { type Operator, type OperatorName, passkeyIdOf, type PersonChange } from "../../src/domain/operator.js";
import type { CreateOperator } from "../../src/domain/people/create-operator.js";
import { decideAboutPeople, type PersonAct } from "../../src/domain/people/operations.js";
import { HOUSE, People } from "../../src/domain/people/people.js";
import type { Proposal } from "../../src/domain/proposal.js";
import { type Actor, OPERATOR } from "../../src/domain/values/actor.js";
import type { OperatorId } from "../../src/domain/values/ids.js";
import type { CommandFields } from "../../src/grpc/services/acts.js";
import { by } from "./commands.js";
import { effectOf, putOf } from "./decided.js";
import { EARLIER, NOW } from "./names.js";

// Hana is a viewer with a key and a passkey. Gone was revoked.

export const [HANA, GONE, NOBODY] = ["opr_hana", "opr_gone", "opr_nobody"] as unknown as [
  OperatorId,
  OperatorId,
  OperatorId,
];
export const [KEY, PASSKEY, OTHER, FREE] = ["1", "2", "3", "4"].map((digit) => digit.repeat(64)) as [
  string,
  string,
  string,
  string,
];
const AT = { actor: OPERATOR, recordedAt: EARLIER };

export const ACTS: readonly PersonChange[] = [
  {
    ...AT,
    kind: "operator.created",
    operatorId: HANA,
    name: "Hana" as OperatorName,
    roles: ["viewer"],
    keySha256: KEY,
  },
  { ...AT, kind: "operator.passkey_added", operatorId: HANA, passkeySha256: PASSKEY },
  {
    ...AT,
    kind: "operator.created",
    operatorId: GONE,
    name: "Gone" as OperatorName,
    roles: ["admin"],
    passkeySha256: OTHER,
  },
  { ...AT, kind: "operator.revoked", operatorId: GONE },
];

export const PASSKEY_ID = passkeyIdOf(PASSKEY);

interface GivenPeople {
  readonly acts?: readonly PersonChange[];
  readonly proposals?: readonly Proposal[];
  readonly authority?: Authority;
}

/** What every command about people has. Nobody else is needed unless the authority says so. */
export function house(
  authority: Authority = by("opr_a", { groups: [] }).authority,
): Pick<CreateOperator, "organizationId" | "actor" | "authority" | "facts"> {
  const actor = authority.person as string as Actor;
  return { organizationId: HOUSE, actor, authority, facts: { newOperatorId: "opr_new" as OperatorId } };
}

/** Decides an act about Hana and Gone, and about what was done since. */
export function decideAct(
  fields: CommandFields<PersonAct>,
  { acts = [], proposals = [], authority }: GivenPeople = {},
): Decision<Acted<Operator>> {
  const people = new People([...ACTS, ...acts], proposals);
  return decideAboutPeople(people, { ...fields, ...house(authority) }, NOW, NOW);
}

/** The act in the effect, without its author and time. */
export function changeIn(decision: Decision<unknown>): object {
  const { person } = effectOf(decision);
  const change = Object.entries(person ?? {}).filter(([name]) => name !== "actor" && name !== "recordedAt");
  return Object.fromEntries(change);
}

export function proposalIn(decision: Decision<unknown>): Proposal {
  const proposal = putOf(effectOf(decision), "proposals");
  if (proposal === undefined) throw new Error("a proposal was expected");
  return proposal;
}

/** What the proposal of the act shows, a line for each change. */
export function linesOf(fields: CommandFields<PersonAct>): readonly string[] {
  const { content } = proposalIn(decideAct(fields, { authority: by("opr_a", { groups: ["operators"] }).authority }));
  const { shown } = JSON.parse(content) as {
    readonly shown: readonly { readonly what: string; readonly before: string; readonly after: string }[];
  };
  return shown.map(({ what, before, after }) => `${what}: ${before} > ${after}`);
}
