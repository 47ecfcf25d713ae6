import { messageOf } from "../../grpc/errors/status.js";
import type { Submitted } from "../../operators/ports.js";
import { OperatorError } from "../../startup/operator-error.js";
import { printLine, timeOf } from "../commands/output.js";

type DoneAct<Resource> = Extract<Submitted<Resource>, { readonly kind: "done" }>;

/**
 * Returns what was done. If it waits for a second person, says so and returns undefined. Throws an
 * OperatorError if it was refused.
 */
export function doneOrProposed<Resource>(submitted: Submitted<Resource>): DoneAct<Resource> | undefined {
  if (submitted.kind === "refused") throw new OperatorError(messageOf(submitted.refusal));
  if (submitted.kind === "done") return submitted;
  const { id, expiresAt } = submitted.proposal;
  printLine(`Proposed as ${id}. Nothing is done until another person approves it, until ${timeOf(expiresAt)}.`);
  printLine(`That person runs: kesc proposal approve ${id}`);
  return undefined;
}

/** Says who did an act: the names of operators, or the author as the book has it. */
export function byWords({
  actor,
  actorNames,
}: {
  readonly actor: string;
  readonly actorNames: readonly string[];
}): string {
  const [proposer, approver] = actorNames;
  if (proposer === undefined) return actor;
  return approver === undefined ? proposer : `${proposer}, approved by ${approver}`;
}
