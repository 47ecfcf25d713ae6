import type { Metadata } from "@grpc/grpc-js";

import type { Organization } from "../../domain/api-key.js";
import { OPERATOR } from "../../domain/values/actor.js";
import type { ApiKeyId, OrganizationId } from "../../domain/values/ids.js";
import { type Parsed, unparsed } from "../../domain/values/parsed.js";
import type { CallingOperator } from "../../operators/session.js";
import type { CallDependencies, OperatorsDoor, Principal, ServingDependencies } from "../calls/call-context.js";
import type { UnaryRoute } from "../calls/unary-call.js";
import { isRead, type RpcContract } from "../messages/contract.js";
import type { FieldProblem } from "../messages/fields.js";
import { masked, MASKS } from "../messages/masked.js";
import type { ListCaller } from "../services/list-turns.js";
import { authorityFor, authorityOf } from "./acts.js";
import { parseId } from "./fields.js";
import { isStale } from "./freshness.js";
import { admitting, oneMessage, type OperatorGate, type OperatorRoute, type RunForMachine } from "./operator-call.js";
import { organizationOr, readOrganization } from "./reading.js";

/** The metadata that names the organization for which an operator calls. */
const ORGANIZATION = "kesc-organization";
const ONLY_ORGANIZATION = "must be absent: only the organization sets it";

/**
 * What the handlers of organizations need to serve an operator: the caller is admitted by the key
 * of the operator, and sees personal data masked. Checks SHUTTING_DOWN, MISSING_OPERATOR_KEY,
 * RESTORE_NOT_CONFIRMED, INVALID_OPERATOR_KEY, ROLE_REQUIRED, INVALID_FIELD of the metadata,
 * ORGANIZATION_NOT_FOUND, ORGANIZATION_CHANGED, INVALID_FIELD, VERIFICATION_REQUIRED, then the
 * refusals of `run` of the rpc.
 */
export function doorDependencies(
  gate: OperatorGate,
): Omit<CallDependencies, keyof ServingDependencies> & Pick<CallDependencies, "shown"> {
  const admitOperator = admitting(gate);
  const { now } = gate;
  const admit: OperatorsDoor["admit"] = async (contract, dependencies, call) => {
    const operator = await admitOperator(contract, dependencies, call);
    if ("reason" in operator) return operator;
    const parsed = organizationIn(call.call.metadata);
    if (!parsed.ok) {
      const field = { field: ORGANIZATION, message: parsed.problem, code: parsed.code };
      return { reason: "INVALID_FIELD", fields: [field] };
    }
    const organization = await organizationOr(gate, parsed.value);
    if ("reason" in organization) return organization;
    const mustVerify = !organization.isSandbox && isStale(contract, operator, now);
    return principalOf(gate, operator, { contract, organization, mustVerify });
  };
  return {
    door: { admit, problemsIn },
    shown: masked,
    // No API key opens anything here, and an operator has no rate.
    authenticate: () => ({ reason: "MISSING_API_KEY" }),
    rates: { bucketOf: () => undefined },
  };
}

/** The rules of the contract that hold for operators alone. */
function problemsIn(contract: RpcContract, request: object): readonly FieldProblem[] {
  if (isRead(contract)) return personalFields(request);
  const given = request as Readonly<Record<string, string | readonly string[] | undefined>>;
  const missing = contract.operatorsGive.filter((field) => String(given[field]).trim() === "");
  // An empty list is absent. An empty text is a change: it removes what stood.
  const foreign = contract.organizationsOnly.filter((field) => given[field]?.[0] !== undefined || given[field] === "");
  return [
    ...missing.map((field): FieldProblem => ({ field, message: "is required", code: "REQUIRED" })),
    ...foreign.map((field): FieldProblem => ({ field, message: ONLY_ORGANIZATION, code: "CONFLICT" })),
  ];
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

/**
 * Returns the operator, or the machine, as the handlers of organizations know a caller. Its lists
 * wait in a line of its own.
 */
async function principalOf(
  { administration }: Pick<OperatorGate, "administration">,
  operator: CallingOperator | undefined,
  {
    contract,
    organization,
    mustVerify,
  }: { readonly contract: RpcContract; readonly organization: Organization; readonly mustVerify: boolean },
): Promise<Principal & ListCaller["key"]> {
  // No proposal waits for a read.
  const authority = isRead(contract)
    ? authorityOf(administration, operator, organization)
    : await authorityFor(administration, operator, { organization, roles: contract.requiredRoles });
  const id = operator?.id ?? OPERATOR;
  return {
    id: id as string as ApiKeyId,
    line: id,
    organizationId: organization.id,
    cell: organization.cell,
    name: operator?.name ?? OPERATOR,
    scopes: [],
    createdAt: organization.createdAt,
    expiresAt: undefined,
    revokedAt: undefined,
    lastUsedAt: undefined,
    operator: { authority, mustVerify },
  };
}

/**
 * Returns the way in of the machine to each of these rpcs of organizations: it needs no key and no
 * second person. Checks ORGANIZATION_NOT_FOUND, INVALID_FIELD, then the refusals of `run` of the
 * rpc. Throws if only a server runs it.
 */
export function machineRoutes(
  handlers: Readonly<Record<string, object>>,
  gate: Pick<OperatorGate, "administration">,
): Readonly<Record<string, Pick<OperatorRoute, "runForMachine">>> {
  const routeOf = ({ runInProcess }: Partial<UnaryRoute>): RunForMachine => {
    return (contract, { organizationId = "", ...call }) =>
      oneMessage(
        readOrganization(gate, organizationId as OrganizationId, async (organization) => {
          if (runInProcess === undefined) throw new Error(`only a server runs ${contract.name}`);
          const key = await principalOf(gate, undefined, { contract, organization, mustVerify: false });
          return runInProcess(contract, { ...call, key, problemsIn });
        }),
        call,
      );
  };
  return Object.fromEntries(
    Object.entries(handlers).map(([name, handler]) => [name, { runForMachine: routeOf(handler) }]),
  );
}
