import type { ApiKey, Organization, Scope } from "../domain/api-key.js";
import type { OperatorName } from "../domain/proposal.js";
import type { ApiKeyId, OperatorId, OrganizationId } from "../domain/values/ids.js";
import type { StatusReason } from "../domain/values/text.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { Operator, Role } from "./operator.js";

/**
 * One act of an operator. A proposal holds it as JSON, so no field is a secret: keys are here as
 * the SHA-256 of their secrets, in hexadecimal.
 */
export type Act =
  | {
      readonly kind: "organization.create";
      readonly name: string;
      readonly isSandbox: boolean;
      /** The one with the fewest organizations when omitted. */
      readonly cell?: number | undefined;
      /** Whether another organization may have the same name. */
      readonly mayRepeatName: boolean;
    }
  | {
      readonly kind: "organization.suspend" | "organization.resume";
      readonly organizationId: OrganizationId;
      readonly reason: StatusReason;
    }
  | {
      readonly kind: "key.create";
      readonly organizationId: OrganizationId;
      readonly name: string;
      readonly scopes: readonly Scope[];
      /** Undefined for a key that never expires. */
      readonly expiresAt?: UnixMillis | undefined;
      readonly secretSha256: string;
    }
  | { readonly kind: "key.revoke"; readonly keyId: ApiKeyId }
  | {
      readonly kind: "operator.create";
      readonly name: OperatorName;
      readonly roles: readonly Role[];
      readonly keySha256: string;
    }
  | { readonly kind: "operator.set_roles"; readonly operatorId: OperatorId; readonly roles: readonly Role[] }
  | { readonly kind: "operator.replace_key"; readonly operatorId: OperatorId; readonly keySha256: string }
  | { readonly kind: "operator.revoke"; readonly operatorId: OperatorId };

export type ActKind = Act["kind"];
export type ActOf<Kind extends ActKind> = Extract<Act, { readonly kind: Kind }>;

/** The resource that an act is about. */
export type ActResource<A extends Act> = A extends { readonly kind: `organization.${string}` }
  ? Organization
  : A extends { readonly kind: `key.${string}` }
    ? ApiKey
    : Operator;

/** The state of a proposed act. LAPSED: it has expired, or its proposer may no longer propose. */
export type ProposalState = "PENDING" | "APPROVED" | "REJECTED" | "LAPSED";
