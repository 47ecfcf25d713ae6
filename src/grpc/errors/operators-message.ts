import type { OperatorsOnly } from "./operators.js";

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
