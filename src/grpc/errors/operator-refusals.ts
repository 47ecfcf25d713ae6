import { status as Status } from "@grpc/grpc-js";

import type { OperatorRefusal } from "../../operators/refusal.js";
import type { Answers, AnyRefusal } from "./refusal.js";

/** The answers that only the AdminService gives. */
export const OPERATOR_REFUSALS: Answers<Exclude<OperatorRefusal, AnyRefusal>> = {
  MISSING_OPERATOR_KEY: {
    status: Status.UNAUTHENTICATED,
    message: () => "The key is missing. Send an operator's key as x-api-key, or as authorization: Bearer.",
  },
  INVALID_OPERATOR_KEY: {
    status: Status.UNAUTHENTICATED,
    message: () => "The key or the session is not that of an operator, or it is no longer valid.",
  },
  ROLE_REQUIRED: {
    status: Status.PERMISSION_DENIED,
    message: ({ roles }) => `You lack the role. This call takes one of: ${roles.join(", ")}.`,
    facts: ({ roles }) => ({ roles: roles.join(",") }),
  },
  ORGANIZATION_NOT_FOUND: {
    status: Status.NOT_FOUND,
    message: ({ organizationId }) => `There is no organization ${organizationId}.`,
    facts: ({ organizationId }) => ({ organization_id: organizationId }),
  },
  ORGANIZATION_ALREADY_EXISTS: {
    status: Status.ALREADY_EXISTS,
    message: ({ organizationId }) => `The organization ${organizationId} has the name already.`,
    facts: ({ organizationId }) => ({ organization_id: organizationId }),
  },
  CELL_NOT_FOUND: {
    status: Status.NOT_FOUND,
    message: ({ cells }) => `There is no such cell: the database has ${String(cells)}, numbered from 0.`,
    facts: ({ cells }) => ({ cells: String(cells) }),
  },
  RAIL_PLACE_TAKEN: {
    status: Status.ALREADY_EXISTS,
    message: ({ place, organizationId }) => `The ${place} belongs to ${organizationId} already.`,
    facts: ({ place, organizationId }) => ({ place, organization_id: organizationId }),
  },
  RAIL_REGISTRATION_FAILED: {
    status: Status.FAILED_PRECONDITION,
    message: ({ rail, code }) => `The rail ${rail} did not register the account. Its code is ${code}.`,
    facts: ({ rail, code }) => ({ rail, code }),
  },
  OPERATOR_NOT_FOUND: {
    status: Status.NOT_FOUND,
    message: ({ operatorId }) => `There is no operator ${operatorId}.`,
    facts: ({ operatorId }) => ({ operator_id: operatorId }),
  },
  OPERATOR_ALREADY_EXISTS: {
    status: Status.ALREADY_EXISTS,
    message: ({ operatorId }) => `The operator ${operatorId} has the name, or has or had the key.`,
    facts: ({ operatorId }) => ({ operator_id: operatorId }),
  },
  OPERATOR_REVOKED: {
    status: Status.FAILED_PRECONDITION,
    message: ({ operatorId }) => `The operator ${operatorId} is revoked, for ever. Create a new operator.`,
    facts: ({ operatorId }) => ({ operator_id: operatorId }),
  },
  VERIFICATION_REQUIRED: {
    status: Status.PERMISSION_DENIED,
    message: () => "The session must be fresh. Verify it with a passkey (VerifySession), and send the call again.",
  },
  SIGN_IN_REFUSED: {
    status: Status.UNAUTHENTICATED,
    message: () => "The code, the invitation or the passkey is wrong, was used, or is too old. Begin again.",
  },
  PASSKEY_NOT_FOUND: {
    status: Status.NOT_FOUND,
    message: ({ operatorId, passkeyId }) => `The operator ${operatorId} never had a passkey ${passkeyId}.`,
    facts: ({ operatorId, passkeyId }) => ({ operator_id: operatorId, passkey_id: passkeyId }),
  },
};
