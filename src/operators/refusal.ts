import { type RefusalsOf, sentencesOf, worded } from "../domain/answer.js";
import type { Refusal } from "../domain/refusal.js";
import type { OperatorId, OrganizationId } from "../domain/values/ids.js";
import type { PasskeyId, Role } from "./operator.js";

interface OperatorFields {
  readonly cells: number;
  readonly code: string;
  readonly operatorId: OperatorId;
  readonly organizationId: OrganizationId;
  readonly passkeyId: PasskeyId;
  readonly place: string;
  readonly rail: string;
}

const { notFound, alreadyExists, failedPrecondition, permissionDenied, unauthenticated } =
  sentencesOf<OperatorFields>();

/** The answers that only the AdminService gives. */
export const OPERATOR_REFUSALS = {
  MISSING_OPERATOR_KEY: unauthenticated`The key is missing. Send an operator's key as x-api-key, or as authorization: Bearer.`,
  INVALID_OPERATOR_KEY: unauthenticated`The key or the session is not that of an operator, or it is no longer valid.`,
  ROLE_REQUIRED: worded(
    "PERMISSION_DENIED",
    ["roles"],
    ({ roles }: { readonly roles: readonly Role[] }) =>
      `You lack the role. This call takes one of: ${roles.join(", ")}.`,
  ),
  ORGANIZATION_NOT_FOUND: notFound`There is no organization ${"organizationId"}.`,
  ORGANIZATION_ALREADY_EXISTS: alreadyExists`The organization ${"organizationId"} has the name already.`,
  ORGANIZATION_CHANGED: failedPrecondition`The row of the organization ${"organizationId"} was changed in the database, past the service. Nothing was done. Run kesc verify, and put the row back.`,
  CELL_NOT_FOUND: notFound`There is no such cell: the database has ${"cells"}, numbered from 0.`,
  RAIL_PLACE_TAKEN: alreadyExists`The ${"place"} belongs to ${"organizationId"} already.`,
  RAIL_REGISTRATION_FAILED: failedPrecondition`The rail ${"rail"} did not register the account: ${"code"}. Nothing has changed here. Repeat the command once the rail takes it; kesc rail probe says what it takes.`,
  OPERATOR_NOT_FOUND: notFound`There is no operator ${"operatorId"}.`,
  OPERATOR_ALREADY_EXISTS: alreadyExists`The operator ${"operatorId"} has the name, or has or had the key.`,
  OPERATOR_REVOKED: failedPrecondition`The operator ${"operatorId"} is revoked, for ever. Create a new operator.`,
  VERIFICATION_REQUIRED: permissionDenied`The session must be fresh. Verify it with a passkey (VerifySession), and send the call again.`,
  SIGN_IN_REFUSED: unauthenticated`The code, the invitation or the passkey is wrong, was used, or is too old. Begin again.`,
  PASSKEY_NOT_FOUND: notFound`The operator ${"operatorId"} never had a passkey ${"passkeyId"}.`,
};

/** A refusal of the AdminService, with its facts. */
export type OperatorRefusal =
  | RefusalsOf<typeof OPERATOR_REFUSALS>
  /** The refusals of acts that a book holds. */
  | Extract<
      Refusal,
      {
        readonly reason:
          | "API_KEY_NOT_FOUND"
          | "PROPOSAL_NOT_FOUND"
          | "PROPOSAL_CLOSED"
          | "PROPOSAL_OUTDATED"
          | "OWN_PROPOSAL"
          | "TOO_MANY_PROPOSALS"
          | "BOOK_MOVING";
      }
    >;
