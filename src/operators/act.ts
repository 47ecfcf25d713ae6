import type { Organization } from "../domain/api-key.js";
import type { OperatorId } from "../domain/values/ids.js";
import type { Operator, OperatorName, PasskeyId, Role } from "./operator.js";

/**
 * An act of an operator that no book holds. A proposal holds it as JSON, so no field is a secret:
 * keys are here as the SHA-256 of their secrets, in hexadecimal. The acts in books are commands of
 * the ledger.
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
  | ({
      readonly kind: "operator.create";
      readonly name: OperatorName;
      readonly roles: readonly Role[];
    } & ({ readonly keySha256: string } | NewPasskey))
  | ({ readonly kind: "operator.add_passkey"; readonly operatorId: OperatorId } & NewPasskey)
  | { readonly kind: "operator.remove_passkey"; readonly operatorId: OperatorId; readonly passkeyId: PasskeyId }
  | { readonly kind: "operator.set_roles"; readonly operatorId: OperatorId; readonly roles: readonly Role[] }
  | { readonly kind: "operator.replace_key"; readonly operatorId: OperatorId; readonly keySha256: string }
  | { readonly kind: "operator.revoke"; readonly operatorId: OperatorId };

/** The passkey of an act. The approver compares the id with what the person reads. */
export interface NewPasskey {
  readonly passkeySha256: string;
  readonly passkeyId: PasskeyId;
}

export type ActKind = Act["kind"];

/** An act about operators. */
export type OperatorsAct = Extract<Act, { readonly kind: `operator.${string}` }>;

export function isOfOperators(act: Act): act is OperatorsAct {
  return act.kind.startsWith("operator.");
}

export type ActOf<Kind extends ActKind> = Extract<Act, { readonly kind: Kind }>;

/** The resource that an act is about. */
export type ActResource<A extends Act> = A extends { readonly kind: "organization.create" } ? Organization : Operator;

/** The state of a proposed act. LAPSED: it has expired, or its proposer may no longer propose. */
export type ProposalState = "PENDING" | "APPROVED" | "REJECTED" | "LAPSED";
