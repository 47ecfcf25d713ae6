import type { Metadata } from "@grpc/grpc-js";

import type { ApiKey, Organization } from "../../domain/api-key.js";
import type { ApiKeyId, OrganizationId } from "../../domain/values/ids.js";
import { type Parsed, unparsed } from "../../domain/values/parsed.js";
import type { Operator } from "../../operators/operator.js";
import type { Administration } from "../../operators/ports.js";
import type { CallDependencies, ServingDependencies } from "../calls/call-context.js";
import type { FieldProblem } from "../messages/fields.js";
import { masked, MASKS } from "../messages/masked.js";
import type { ListCaller } from "../services/list-turns.js";
import type { OperatorAuthenticator } from "./authenticator.js";
import { parseId } from "./fields.js";
import { admitting } from "./operator-call.js";

/** The metadata that names the organization whose data an operator reads. */
const ORGANIZATION = "kesc-organization";

interface ReaderOptions {
  readonly administration: Pick<Administration, "organization">;
  readonly authenticator: OperatorAuthenticator;
}

/**
 * What the handlers of organizations need to serve an operator: the caller is admitted by the key
 * of the operator, and sees personal data masked. Checks SHUTTING_DOWN, MISSING_OPERATOR_KEY,
 * INVALID_OPERATOR_KEY, ROLE_REQUIRED, INVALID_FIELD of the metadata, ORGANIZATION_NOT_FOUND, then
 * what the rpc checks after the key.
 */
export function readerDependencies({
  administration,
  authenticator,
}: ReaderOptions): Omit<CallDependencies, keyof ServingDependencies> & Pick<CallDependencies, "shown"> {
  const admitOperator = admitting({ authenticator });
  return {
    admitReader: async (contract, dependencies, call) => {
      const operator = await admitOperator(contract, dependencies, call);
      if ("reason" in operator) return operator;
      const parsed = organizationIn(call.call.metadata);
      if (!parsed.ok) {
        const field = { field: ORGANIZATION, message: parsed.problem, code: parsed.code };
        return { reason: "INVALID_FIELD", fields: [field] };
      }
      const organization = await administration.organization(parsed.value);
      if (organization === undefined) return { reason: "ORGANIZATION_NOT_FOUND", organizationId: parsed.value };
      return readerOf(operator, organization);
    },
    shown: masked,
    withheld: personalFields,
    // No API key opens anything here, and an operator has no rate.
    authenticate: () => ({ reason: "MISSING_API_KEY" }),
    rates: { bucketOf: () => undefined },
  };
}

/** Only LookUp finds a person: it counts and notes each look-up. */
function personalFields(request: object): readonly FieldProblem[] {
  const given = Object.entries(request).filter(([name, value]) => name in MASKS && value !== "");
  const message = "must be absent: operators look a person up with AdminService.LookUp, which the book notes";
  return given.map(([field]) => ({ field, message, code: "CONFLICT" }));
}

function organizationIn(metadata: Metadata): Parsed<OrganizationId> {
  const [id = "", ...others] = metadata.get(ORGANIZATION).map(String);
  return others.length === 0 ? parseId<OrganizationId>(id) : unparsed("must be given once", "CONFLICT");
}

/** The operator as the handlers of organizations know a caller. Lists wait in a line of its own. */
function readerOf({ id, name, createdAt }: Operator, organization: Organization): ApiKey & ListCaller["key"] {
  return {
    id: id as string as ApiKeyId,
    line: id,
    organizationId: organization.id,
    cell: organization.cell,
    name,
    scopes: [],
    createdAt,
    expiresAt: undefined,
    revokedAt: undefined,
    lastUsedAt: undefined,
  };
}
