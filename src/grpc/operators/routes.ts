import type { ActsOptions } from "./acts.js";
import { keyRpcs } from "./key-rpcs.js";
import { limitRpcs } from "./limit-rpcs.js";
import { type OperatorRoute, operatorUnary } from "./operator-call.js";
import { operatorRpcs } from "./operator-rpcs.js";
import { organizationRpcs } from "./organization-rpcs.js";
import { proposalRpcs } from "./proposal-rpcs.js";

/** The rpcs of the AdminService by their names: "createOrganization". */
export function operatorRoutes(options: ActsOptions): Readonly<Record<string, OperatorRoute>> {
  return {
    ...organizationRpcs(operatorUnary, options),
    ...keyRpcs(operatorUnary, options),
    ...limitRpcs(operatorUnary, options),
    ...operatorRpcs(operatorUnary, options),
    ...proposalRpcs(operatorUnary, options),
  };
}
