import { status as Status } from "@grpc/grpc-js";

import type { OperatorRefusal } from "../../operators/refusal.js";
import {
  alreadyExists,
  type Answers,
  type AnyRefusal,
  failedPrecondition,
  notFound,
  permissionDenied,
  unauthenticated,
} from "./refusal.js";

/** The answers that only the AdminService gives. */
export const OPERATOR_REFUSALS: Answers<Exclude<OperatorRefusal, AnyRefusal>> = {
  MISSING_OPERATOR_KEY: unauthenticated`The key is missing. Send an operator's key as x-api-key, or as authorization: Bearer.`,
  INVALID_OPERATOR_KEY: unauthenticated`The key or the session is not that of an operator, or it is no longer valid.`,
  ROLE_REQUIRED: {
    status: Status.PERMISSION_DENIED,
    message: ({ roles }) => `You lack the role. This call takes one of: ${roles.join(", ")}.`,
    facts: ({ roles }) => ({ roles: roles.join(",") }),
  },
  ORGANIZATION_NOT_FOUND: notFound`There is no organization ${"organizationId"}.`,
  ORGANIZATION_ALREADY_EXISTS: alreadyExists`The organization ${"organizationId"} has the name already.`,
  CELL_NOT_FOUND: notFound`There is no such cell: the database has ${"cells"}, numbered from 0.`,
  RAIL_PLACE_TAKEN: alreadyExists`The ${"place"} belongs to ${"organizationId"} already.`,
  RAIL_REGISTRATION_FAILED: failedPrecondition`The rail ${"rail"} did not register the account. Its code is ${"code"}.`,
  OPERATOR_NOT_FOUND: notFound`There is no operator ${"operatorId"}.`,
  OPERATOR_ALREADY_EXISTS: alreadyExists`The operator ${"operatorId"} has the name, or has or had the key.`,
  OPERATOR_REVOKED: failedPrecondition`The operator ${"operatorId"} is revoked, for ever. Create a new operator.`,
  VERIFICATION_REQUIRED: permissionDenied`The session must be fresh. Verify it with a passkey (VerifySession), and send the call again.`,
  SIGN_IN_REFUSED: unauthenticated`The code, the invitation or the passkey is wrong, was used, or is too old. Begin again.`,
  PASSKEY_NOT_FOUND: notFound`The operator ${"operatorId"} never had a passkey ${"passkeyId"}.`,
};
