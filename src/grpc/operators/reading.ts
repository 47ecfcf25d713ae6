import type { Organization } from "../../domain/api-key.js";
import { OPERATOR } from "../../domain/values/actor.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { Operator } from "../../operators/operator.js";
import type { Administration } from "../../operators/ports.js";
import type { Caller } from "../calls/call-context.js";
import { refuse, type RpcResult } from "../calls/rpc-result.js";
import type { ListCaller } from "../services/list-turns.js";

/** Makes the result of a read of one organization, which may be refused. */
export async function readOrganization<Response>(
  { administration }: { readonly administration: Pick<Administration, "organization"> },
  organizationId: OrganizationId,
  read: (organization: Organization) => Promise<RpcResult<Response>>,
): Promise<RpcResult<Response>> {
  const organization = await administration.organization(organizationId);
  return organization === undefined ? refuse({ reason: "ORGANIZATION_NOT_FOUND", organizationId }) : read(organization);
}

/**
 * Returns the caller as lists know one. The lists of an operator wait in a separate line. So a
 * busy organization does not delay the operator who looks at it, and an operator delays an
 * organization no more than another organization does.
 */
export function listCallerOf({ key, deadline }: Pick<Caller<Operator | undefined>, "key" | "deadline">): ListCaller {
  const id = key?.id ?? OPERATOR;
  return { key: { id, organizationId: id }, deadline };
}
