import type { UnixMillis } from "../../domain/values/time.js";
import * as wire from "../../gen/kesc/v1/organization_service.js";
import { done, refuse } from "../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../calls/unary-call.js";
import { fields } from "../messages/field-kinds.js";
import { decidedAt, toLimitsMessage } from "../messages/limits.js";
import { toOrganizationMessage } from "../messages/organization.js";
import type { CellOf } from "./served-cell.js";

export interface OrganizationHandlersOptions {
  readonly cellOf: CellOf;
  readonly now: () => UnixMillis;
}

/**
 * The rpcs of kesc.v1.OrganizationService. An rpc of the contract without a handler does not
 * compile.
 */
export function organizationHandlers(
  options: OrganizationHandlersOptions,
): Record<keyof wire.OrganizationServiceService, UnaryRoute> {
  return { getOrganization: getOrganization(options), getLimits: getLimits(options) };
}

function getOrganization({ cellOf }: OrganizationHandlersOptions): UnaryRoute {
  return unary({
    request: wire.GetOrganizationRequest,
    response: wire.GetOrganizationResponse,
    ...fields(),
    run: async (_, { who, organization: { id: organizationId, cell } }) => {
      if (who.kind !== "key") throw new Error("the contract lets only keys call GetOrganization");
      const { reads, railAccounts } = cellOf({ cell });
      const organization = await reads.organization(organizationId);
      if (organization === undefined) throw new Error(`the organization ${organizationId} of a key has no book`);
      const rails = {
        defaultRail: railAccounts.defaultRail(organizationId),
        accounts: railAccounts.accountsOf(organizationId),
      };
      return done({ organization: toOrganizationMessage(organization, who.key, rails) });
    },
  });
}

function getLimits({ cellOf, now }: OrganizationHandlersOptions): UnaryRoute {
  return unary({
    request: wire.GetLimitsRequest,
    response: wire.GetLimitsResponse,
    ...fields("account_id?"),
    run: async ({ accountId }, { organization }) => {
      const { reads } = cellOf(organization);
      const account = accountId === undefined ? undefined : await reads.account(organization.id, accountId);
      if (accountId !== undefined && account === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
      const limits = await reads.limits(organization.id);
      return done({ limits: toLimitsMessage(limits, account, decidedAt(limits, now())) });
    },
  });
}
