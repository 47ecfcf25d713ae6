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
  CELL_NOT_FOUND: Status.NOT_FOUND,
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
      return { api_key_id: refusal.keyId };
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
