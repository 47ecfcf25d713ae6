import { rejectAboutOperator } from "../book/reject-proposal.js";
import type { Decide, Decision } from "../decision.js";
import type { UnixMillis } from "../values/time.js";
import { addPasskey } from "./add-passkey.js";
import { createOperator } from "./create-operator.js";
import type { People } from "./people.js";
import { removePasskey } from "./remove-passkey.js";
import { replaceOperatorKey } from "./replace-operator-key.js";
import { revokeOperator } from "./revoke-operator.js";
import { setOperatorRoles } from "./set-operator-roles.js";

/** All operations about people, by the name of their command. */
export const PERSON_OPERATIONS = {
  createOperator,
  setOperatorRoles,
  replaceOperatorKey,
  addPasskey,
  removePasskey,
  revokeOperator,
  rejectProposal: rejectAboutOperator,
} as const;

type PersonOperations = typeof PERSON_OPERATIONS;

/** A request to change an operator, or to end a proposal about one. */
export type PersonCommand = Parameters<PersonOperations[keyof PersonOperations]["decide"]>[1];
/** A command that can wait for a second person, or does something about one operator. */
export type PersonAct = Exclude<PersonCommand, { readonly name: "rejectProposal" }>;

/** What a command about people returns. */
export type ResourceOfPerson<C extends PersonCommand> = Extract<
  ReturnType<PersonOperations[C["name"]]["decide"]>,
  { readonly kind: "effect" }
>["resource"];

/** Decides a command against all people before it. The function is pure. */
export function decideAboutPeople<C extends PersonCommand>(
  people: People,
  command: C,
  now: UnixMillis,
  clock: UnixMillis,
): Decision<ResourceOfPerson<C>> {
  const { decide } = PERSON_OPERATIONS[command.name] as { readonly decide: Decide<C, ResourceOfPerson<C>, People> };
  return decide(people, command, now, clock);
}
