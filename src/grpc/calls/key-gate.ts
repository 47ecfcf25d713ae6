import type { ApiKey } from "../../domain/api-key.js";
import type { AuthenticatedCall, Authentication } from "./authenticator.js";
import { type Admission, type Admitted, type Gate, NOBODY } from "./call-context.js";
import type { CallRates } from "./call-rates.js";

export interface KeyGateOptions {
  readonly authenticate: (call: AuthenticatedCall) => Authentication | Promise<Authentication>;
  readonly rates: Pick<CallRates, "bucketOf">;
}

/**
 * Makes the gate of an address where API keys call. Checks, in this order: SHUTTING_DOWN,
 * MISSING_API_KEY, RESTORE_NOT_CONFIRMED, INVALID_API_KEY, BOOK_MOVING, SCOPE_REQUIRED,
 * RATE_LIMITED. A stream counts as one call, at its start.
 */
export function keyGate({ authenticate, rates }: KeyGateOptions): Gate {
  return {
    admit: (contract, { isStopping }, { call, record }) => {
      if (isStopping()) return { reason: "SHUTTING_DOWN" };
      if (contract.isPublic) return { who: NOBODY, organization: undefined };
      const { requiredScope } = contract;
      const admitKey = (key: Authentication): Admission => {
        if ("reason" in key) return key;
        const admitted = admittedWith(key);
        const isFirst = record.who === undefined;
        record.who = admitted.who;
        if (isFirst) record.bucket = rates.bucketOf(key.id, contract);
        const limited = isFirst && record.bucket?.take(1) === 0 ? record.bucket.refusal() : undefined;
        if (requiredScope !== undefined && !key.scopes.includes(requiredScope)) {
          return { reason: "SCOPE_REQUIRED", scope: requiredScope };
        }
        return limited ?? admitted;
      };
      const authenticating = authenticate(call);
      return authenticating instanceof Promise ? authenticating.then(admitKey) : admitKey(authenticating);
    },
  };
}

/** Returns who calls with a key, and for whom. */
export function admittedWith(key: ApiKey): Admitted {
  return { who: { kind: "key", key }, organization: { id: key.organizationId, cell: key.cell } };
}
