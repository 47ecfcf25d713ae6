import type { Metadata } from "@grpc/grpc-js";

import type { OrganizationId } from "../../domain/values/ids.js";
import { type Parsed, unparsed } from "../../domain/values/parsed.js";
import { parseName } from "../../domain/values/text.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { authorityFor } from "../../operators/authority.js";
import type { Administration } from "../../operators/ports.js";
import type { CallingOperator } from "../../operators/session.js";
import type { AnyRefusal } from "../errors/refusal.js";
import { isRead, type RpcContract } from "../messages/contract.js";
import type { FieldProblem } from "../messages/fields.js";
import { MASKS } from "../messages/masked.js";
import { type Admission, type Gate, MACHINE, NOBODY, type OperatorRules, type Who } from "./call-context.js";
import { needsVerification } from "./freshness.js";
import { organizationOr } from "./named-organization.js";
import { OperatorAuthenticator, type OperatorAuthenticatorOptions } from "./operator-authenticator.js";
import { isChange, mayWait, PersonTurns } from "./person-turns.js";
import type { CallInProcess, EncodedMessages, RpcRoute } from "./route.js";

/** The metadata that names the organization for which an operator calls. */
const ORGANIZATION = "kesc-organization";
const ONLY_ORGANIZATION = "must be absent: only the organization sets it";
const NOT_FRESH = { reason: "VERIFICATION_REQUIRED" } as const;

/** What the gate reads of operators and organizations. */
interface OfOperators {
  readonly administration: Pick<Administration, "fourEyes" | "operators" | "organization">;
}

interface OperatorGateOptions extends OperatorAuthenticatorOptions {
  readonly administration: Pick<
    Administration,
    "foundProposal" | "fourEyes" | "operators" | "operatorWithKey" | "organization"
  >;
  readonly now: () => UnixMillis;
}

/**
 * Makes the gate of the address where operators call, by their keys and sessions. Checks, in this
 * order: SHUTTING_DOWN, MISSING_OPERATOR_KEY, RESTORE_NOT_CONFIRMED, INVALID_OPERATOR_KEY,
 * ROLE_REQUIRED, QUEUE_FULL of what takes turns, INVALID_FIELD of the metadata,
 * ORGANIZATION_NOT_FOUND, ORGANIZATION_CHANGED, INVALID_FIELD, VERIFICATION_REQUIRED, then the
 * refusals of `run` of the rpc.
 */
export function operatorGate(options: OperatorGateOptions): Gate {
  const authenticator = new OperatorAuthenticator(options);
  const turns = new PersonTurns(options.now);
  const admitOperator = async (
    { requiredRoles: roles, isBackground }: RpcContract,
    { call, record }: Parameters<Gate["admit"]>[2],
  ): Promise<CallingOperator | AnyRefusal> => {
    const operator = await authenticator.authenticate(call, isBackground);
    if ("reason" in operator) return operator;
    record.who = { kind: "operator", operator };
    return operator.roles.some((role) => roles.includes(role)) ? operator : { reason: "ROLE_REQUIRED", roles };
  };
  return {
    admit: async (contract, { isStopping }, call) => {
      if (isStopping()) return { reason: "SHUTTING_DOWN" };
      if (contract.isPublic) {
        if (await authenticator.restoreWaits()) return { reason: "RESTORE_NOT_CONFIRMED" };
        return { who: NOBODY, organization: undefined };
      }
      const operator = await admitOperator(contract, call);
      if ("reason" in operator) return operator;
      const who = { kind: "operator", operator } as const;
      const full = mayWait(contract) ? await turns.refusalOf(who) : undefined;
      return full ?? inOrganization(options, contract, who, call.call.metadata);
    },
    rules: {
      problemsIn,
      refusalOf: async (call) => ((await needsVerification(options, call)) ? NOT_FRESH : undefined),
      inTurn: ({ contract, caller, parts }, run) => {
        const turn = isChange(contract) ? "change" : parts === undefined ? undefined : "trial";
        return turn === undefined || contract.isPublic ? run() : turns.run(turn, caller, run, parts);
      },
    },
  };
}

/** A call of the machine. */
export interface MachineCall extends CallInProcess {
  /** For which organization an rpc of organizations is called. */
  readonly organizationId?: string | undefined;
}

/**
 * Runs an rpc for the machine in this process: it needs no key and no second person. Checks
 * INVALID_FIELD of the organization, ORGANIZATION_NOT_FOUND, ORGANIZATION_CHANGED, INVALID_FIELD,
 * then the refusals of `run` of the rpc. Rejects if only a server runs it.
 */
export async function* runForMachine(
  { inProcess }: RpcRoute,
  contract: RpcContract,
  { organizationId, ...call }: MachineCall,
  options: OfOperators,
): EncodedMessages {
  if (inProcess === undefined) throw new Error(`only a server runs ${contract.name}`);
  const given = organizationId === undefined ? [] : [organizationId];
  const admission = await inOrganization(options, contract, MACHINE, { get: () => given });
  if ("reason" in admission) return admission;
  return yield* inProcess(contract, { ...call, admitted: admission, rules: { problemsIn } });
}

/** Admits an operator or the machine for the organization that the metadata names, if any. */
async function inOrganization(
  options: OfOperators,
  contract: RpcContract,
  who: Who,
  metadata: { get(name: string): ReturnType<Metadata["get"]> },
): Promise<Admission> {
  if (!contract.isOfOrganization) return { who, organization: undefined };
  const named = organizationIn(metadata.get(ORGANIZATION).map(String));
  if (!named.ok) {
    const field = { field: ORGANIZATION, message: named.problem, code: named.code };
    return { reason: "INVALID_FIELD", fields: [field] };
  }
  const organization = await organizationOr(options, named.value);
  if ("reason" in organization) return organization;
  // No proposal waits for a read, and an act of operators alone asks for its authority itself.
  if (contract.requiredScope === undefined || isRead(contract)) return { who, organization };
  const { requiredRoles: roles } = contract;
  const authority = await authorityFor(options.administration, who.operator, { organization, roles });
  return { who, organization, authority };
}

function organizationIn([id = "", ...others]: readonly string[]): Parsed<OrganizationId> {
  return others.length === 0 ? parseName<OrganizationId>(id) : unparsed("must be given once", "CONFLICT");
}

/** The rules of the contract that hold for operators alone. */
const problemsIn: OperatorRules["problemsIn"] = (contract, request) => {
  const given = request as Readonly<Record<string, string | readonly string[] | undefined>>;
  if (isRead(contract)) return personalFields(given);
  const missing = contract.operatorsGive.filter((field) => String(given[field]).trim() === "");
  // An empty list is absent. An empty text is a change: it removes what stood.
  const foreign = contract.organizationsOnly.filter((field) => given[field]?.[0] !== undefined || given[field] === "");
  return [
    ...missing.map((field): FieldProblem => ({ field, message: "is required", code: "REQUIRED" })),
    ...foreign.map((field): FieldProblem => ({ field, message: ONLY_ORGANIZATION, code: "CONFLICT" })),
  ];
};

/** Only LookUp finds a person: it counts and notes each look-up. */
function personalFields(request: object): readonly FieldProblem[] {
  const given = Object.entries(request).filter(([name, value]) => name in MASKS && value !== "");
  const message = "must be absent: operators look a person up with AdminService.LookUp, which the book notes";
  return given.map(([field]) => ({ field, message, code: "CONFLICT" }));
}
