import type { Refusal } from "../domain/refusal.js";
import type { OperatorId, OrganizationId } from "../domain/values/ids.js";
import type { PasskeyId, Role } from "./operator.js";

/** A refusal of the AdminService, with its facts. */
export type OperatorRefusal =
  | { readonly reason: "MISSING_OPERATOR_KEY" }
  | { readonly reason: "INVALID_OPERATOR_KEY" }
  | { readonly reason: "ROLE_REQUIRED"; readonly roles: readonly Role[] }
  | { readonly reason: "ORGANIZATION_NOT_FOUND"; readonly organizationId: OrganizationId }
  | { readonly reason: "ORGANIZATION_ALREADY_EXISTS"; readonly organizationId: OrganizationId }
  /** The database has no such cell. */
  | { readonly reason: "CELL_NOT_FOUND"; readonly cells: number }
  /** Another organization has an account at the place. */
  | { readonly reason: "RAIL_PLACE_TAKEN"; readonly place: string; readonly organizationId: OrganizationId }
  /** With the code of the rail. */
  | { readonly reason: "RAIL_REGISTRATION_FAILED"; readonly rail: string; readonly code: string }
  | { readonly reason: "OPERATOR_NOT_FOUND"; readonly operatorId: OperatorId }
  /** An operator has the name, or once had the key. */
  | { readonly reason: "OPERATOR_ALREADY_EXISTS"; readonly operatorId: OperatorId }
  /** A revoked operator stays revoked. */
  | { readonly reason: "OPERATOR_REVOKED"; readonly operatorId: OperatorId }
  /** The session is not fresh. */
  | { readonly reason: "VERIFICATION_REQUIRED" }
  /** A code, an invitation or a response is wrong, was used, or is too old. */
  | { readonly reason: "SIGN_IN_REFUSED" }
  | { readonly reason: "PASSKEY_NOT_FOUND"; readonly operatorId: OperatorId; readonly passkeyId: PasskeyId }
  /** Those of the acts that a book holds. */
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
