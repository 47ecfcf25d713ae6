import type { Authorized } from "../authority.js";
import { type Change, changes } from "../change.js";
import type { DecidingRow } from "../journal.js";
import {
  hasKeptRole,
  type Operator,
  type OperatorName,
  passkeyIdOf,
  type PersonChange,
  type Role,
} from "../operator.js";
import { lapsedProposal, type Proposal } from "../proposal.js";
import type { Proposals } from "../proposed.js";
import type { OperatorId, OrganizationId } from "../values/ids.js";

/** Stands in place of an organization in a command about people, and in its proposal. */
export const HOUSE = "house" as OrganizationId;

/** Returns the organization in whose book a proposal lies. Undefined for one about an operator. */
export function bookOfProposal({ organizationId }: Proposal): OrganizationId | undefined {
  return organizationId === HOUSE ? undefined : organizationId;
}

/** Those who may propose a change of the people. */
export const PROPOSING_ROLES: readonly Role[] = ["admin"];

/** A command about one operator. */
export interface AboutOperator extends Authorized {
  readonly operatorId: OperatorId;
}

/** The state before a command about people: all that was done about them, and what waits. */
export class People implements Proposals {
  readonly #acts: readonly PersonChange[];
  readonly #operators: ReadonlyMap<string, Operator>;
  readonly #proposals: readonly Proposal[];

  /** The acts are those of all operators, the oldest first. */
  constructor(acts: readonly PersonChange[], proposals: readonly Proposal[]) {
    this.#acts = acts;
    this.#operators = new Map(operatorsOf(acts).map((operator) => [operator.id, operator]));
    this.#proposals = proposals;
  }

  operators(): readonly Operator[] {
    return [...this.#operators.values()];
  }

  operator(id: OperatorId): Operator | undefined {
    return this.#operators.get(id);
  }

  /** What was done about the operator, the oldest first. */
  actsAbout(id: OperatorId): readonly PersonChange[] {
    return this.#acts.filter(({ operatorId }) => operatorId === id);
  }

  /** Who has, or once had, the key or the passkey. */
  holderOf(sha256: string): OperatorId | undefined {
    return this.#acts.find(({ keySha256, passkeySha256 }) => keySha256 === sha256 || passkeySha256 === sha256)
      ?.operatorId;
  }

  proposal(_organizationId: OrganizationId, subject: string): Proposal | undefined {
    return this.#proposals.find(({ id }) => id === subject);
  }

  undecidedProposals(): readonly Proposal[] {
    return this.#proposals.filter(({ decided }) => decided === undefined);
  }

  /** None: a proposal shows how often its operator was changed, so any later act outdates it. */
  decidingRows(): readonly DecidingRow[] {
    return [];
  }
}

/** Returns the operators that the acts have made, in the order of their first acts. */
export function operatorsOf(acts: readonly PersonChange[]): readonly Operator[] {
  const operators = new Map<string, Operator>();
  for (const act of acts) operators.set(act.operatorId, operatorAfter(operators.get(act.operatorId), act));
  return [...operators.values()];
}

/** Returns an operator after one more act. Throws if the first act about one creates nobody. */
export function operatorAfter(known: Operator | undefined, act: PersonChange): Operator {
  const { kind, operatorId: id, name, roles, keySha256, passkeySha256: sha256, recordedAt: at } = act;
  if (name === undefined ? known === undefined : known !== undefined) {
    throw new Error(`an act before the one that created ${id}, or a second one`);
  }
  const before = known ?? { ...NOBODY, id, name: name as OperatorName, createdAt: at };
  const history = (now: readonly Role[]) => [...before.history, { at, roles: now }];
  if (kind === "operator.revoked") return { ...before, revokedAt: at, history: history([]), passkeys: [] };
  const others = before.passkeys.filter((passkey) => passkey.sha256 !== sha256);
  const isAdded = sha256 !== undefined && kind !== "operator.passkey_removed";
  return {
    ...before,
    ...(roles === undefined ? {} : { roles, history: history(roles) }),
    keySha256: keySha256 ?? before.keySha256,
    passkeys: isAdded ? [...others, { id: passkeyIdOf(sha256), sha256, createdAt: at }] : others,
  };
}

const NOBODY = { roles: [], revokedAt: undefined, history: [], keySha256: undefined, passkeys: [] } as const;

/**
 * Returns a proposal of an operator as it is now: it lapses for ever when the operator is revoked,
 * or loses the roles of the act.
 */
export function unlessLapsed(
  proposal: Proposal,
  operators: readonly Operator[],
  roles: readonly Role[] = PROPOSING_ROLES,
): Proposal {
  const { person, proposedAt, decided } = proposal;
  const proposer = operators.find(({ id }) => (id as string) === person);
  const isPossible = proposer !== undefined && hasKeptRole(proposer, roles, proposedAt);
  return decided === undefined && !isPossible ? lapsedProposal(proposal) : proposal;
}

type ChangeRow = readonly [what: string, before: string | undefined, after: string | undefined];

/**
 * Returns what a command changes about an operator. The number of earlier acts is among it: after a
 * later one the number is another, so the proposal is outdated.
 */
export function changesAbout(
  { operatorId }: AboutOperator,
  people: People,
  rowsOf: (operator: Operator) => readonly ChangeRow[],
): readonly Change[] {
  // The operation has refused an operator who is not there.
  const operator = people.operator(operatorId) as Operator;
  const count = String(people.actsAbout(operatorId).length);
  return changes(["person", operator.name, operator.name], ...rowsOf(operator), [
    "earlier changes of the person",
    count,
    count,
  ]);
}

/** What the operator may do, which stays. */
export function stayingRoles({ roles }: Operator): ChangeRow {
  return ["roles", roles.join(", "), roles.join(", ")];
}
