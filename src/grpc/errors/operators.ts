import { status as Status } from "@grpc/grpc-js";

import type { OperatorRefusal } from "../../operators/refusal.js";
import type { AnyRefusal, ServedRefusal } from "./refusal.js";

/** A refusal that only the AdminService has. */
export type OperatorsOnly = Exclude<OperatorRefusal, AnyRefusal>;

const STATUSES = {
  MISSING_OPERATOR_KEY: Status.UNAUTHENTICATED,
  INVALID_OPERATOR_KEY: Status.UNAUTHENTICATED,
  ROLE_REQUIRED: Status.PERMISSION_DENIED,
  ORGANIZATION_NOT_FOUND: Status.NOT_FOUND,
  ORGANIZATION_ALREADY_EXISTS: Status.ALREADY_EXISTS,
  CELL_NOT_FOUND: Status.INVALID_ARGUMENT,
  API_KEY_NOT_FOUND: Status.NOT_FOUND,
  OPERATOR_NOT_FOUND: Status.NOT_FOUND,
  OPERATOR_ALREADY_EXISTS: Status.ALREADY_EXISTS,
  OPERATOR_REVOKED: Status.FAILED_PRECONDITION,
  PROPOSAL_NOT_FOUND: Status.NOT_FOUND,
  PROPOSAL_CLOSED: Status.FAILED_PRECONDITION,
  OWN_PROPOSAL: Status.PERMISSION_DENIED,
  TOO_MANY_PROPOSALS: Status.FAILED_PRECONDITION,
} as const satisfies Record<OperatorsOnly["reason"], Status>;

export function isForOperators(refusal: ServedRefusal): refusal is OperatorsOnly {
  return Object.hasOwn(STATUSES, refusal.reason);
}

export function operatorsStatusOf({ reason }: OperatorsOnly): Status {
  return STATUSES[reason];
}

/** Returns the facts of a refusal. The contract's AdminErrorReason defines their names. */
export function operatorsFactsOf(refusal: OperatorsOnly): Record<string, string> {
  switch (refusal.reason) {
    case "MISSING_OPERATOR_KEY":
    case "INVALID_OPERATOR_KEY":
      return {};
    case "ROLE_REQUIRED":
      return { roles: refusal.roles.join(",") };
    case "ORGANIZATION_NOT_FOUND":
    case "ORGANIZATION_ALREADY_EXISTS":
      return { organization_id: refusal.organizationId };
    case "CELL_NOT_FOUND":
      return { cells: String(refusal.cells) };
    case "API_KEY_NOT_FOUND":
      return { key_id: refusal.keyId };
    case "OPERATOR_NOT_FOUND":
    case "OPERATOR_ALREADY_EXISTS":
    case "OPERATOR_REVOKED":
      return { operator_id: refusal.operatorId };
    case "PROPOSAL_NOT_FOUND":
    case "OWN_PROPOSAL":
      return { proposal_id: refusal.proposalId };
    case "PROPOSAL_CLOSED":
      return { proposal_id: refusal.proposalId, state: refusal.state.toLowerCase() };
    case "TOO_MANY_PROPOSALS":
      return { limit: String(refusal.limit) };
  }
}

/** Returns the text of a refusal for people. */
export function operatorsMessageOf(refusal: OperatorsOnly): string {
  switch (refusal.reason) {
    case "MISSING_OPERATOR_KEY":
      return "The key is missing. Send an operator's key as x-api-key, or as authorization: Bearer.";
    case "INVALID_OPERATOR_KEY":
      return "The key is not that of an operator, or it is no longer valid.";
    case "ROLE_REQUIRED":
      return `You lack the role. This call takes one of: ${refusal.roles.join(", ")}.`;
    case "ORGANIZATION_NOT_FOUND":
      return `There is no organization ${refusal.organizationId}.`;
    case "ORGANIZATION_ALREADY_EXISTS":
      return `The organization ${refusal.organizationId} has the name already.`;
    case "CELL_NOT_FOUND":
      return `There is no such cell: the database has ${String(refusal.cells)}, numbered from 0.`;
    case "API_KEY_NOT_FOUND":
      return `There is no key ${refusal.keyId}.`;
    case "OPERATOR_NOT_FOUND":
      return `There is no operator ${refusal.operatorId}.`;
    case "OPERATOR_ALREADY_EXISTS":
      return `The operator ${refusal.operatorId} has the name, or has or had the key.`;
    case "OPERATOR_REVOKED":
      return `The operator ${refusal.operatorId} is revoked, for ever. Create a new operator.`;
    case "PROPOSAL_NOT_FOUND":
      return `There is no proposal ${refusal.proposalId}.`;
    case "PROPOSAL_CLOSED":
      return `The proposal ${refusal.proposalId} is ${refusal.state.toLowerCase()}. It can no longer be decided.`;
    case "OWN_PROPOSAL":
      return `The proposal ${refusal.proposalId} is your own. Another person must approve it.`;
    case "TOO_MANY_PROPOSALS":
      return `You have ${String(refusal.limit)} proposals that wait, and more are not allowed. Reject those that you do not need.`;
  }
}
