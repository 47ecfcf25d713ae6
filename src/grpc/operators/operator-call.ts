import { requestIdOf } from "../../../runtime/request-id.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { Operator } from "../../operators/operator.js";
import { type Admit, type Caller, parseRequest, type ServingDependencies } from "../calls/call-context.js";
import { serverStreamOf, type ServerStreamRoute, type ServerStreamRpc } from "../calls/server-stream-call.js";
import { routeOf, type UnaryRoute, type UnaryRpc } from "../calls/unary-call.js";
import type { ServedRefusal } from "../errors/refusal.js";
import type { RpcContract } from "../messages/contract.js";
import { encode } from "../messages/encode.js";
import type { OperatorAuthenticator } from "./authenticator.js";

/**
 * An rpc of the AdminService. Its caller is an operator, or undefined for the machine: the `kesc`
 * command on the database.
 */
export type OperatorRpc<Request, Input, Response> = UnaryRpc<Request, Input, Response, Operator | undefined>;

/** The encoded response, or the refusal. */
export type MachineReply =
  { readonly kind: "done"; readonly bytes: Buffer } | { readonly kind: "refused"; readonly refusal: ServedRefusal };

/** An rpc of the AdminService with its two ways in. */
export interface OperatorRoute {
  /**
   * Makes the handler for operators. It checks, in this order: SHUTTING_DOWN, MISSING_OPERATOR_KEY,
   * INVALID_OPERATOR_KEY, ROLE_REQUIRED, INVALID_FIELD, then the refusals of `run` of the rpc.
   */
  serve(authenticator: OperatorAuthenticator): UnaryRoute<ServingDependencies>;
  /**
   * Runs the rpc in this process, without a key and without a deadline. Checks INVALID_FIELD, then
   * the refusals of `run` of the rpc. Rejects with the errors that `run` throws.
   */
  runForMachine(contract: Pick<RpcContract, "input">, bytes: Buffer): Promise<MachineReply>;
}

/** Makes the route of an rpc. */
export type OperatorUnary = <Request, Input, Response>(rpc: OperatorRpc<Request, Input, Response>) => OperatorRoute;

export const operatorUnary: OperatorUnary = (rpc) => ({
  serve: (authenticator) => routeOf(rpc, admitting(authenticator)),
  runForMachine: async (contract, bytes) => {
    const caller = machineCaller();
    const input = parseRequest(rpc, contract, bytes, caller);
    if (!input.ok) return { kind: "refused", refusal: { reason: "INVALID_FIELD", fields: input.fields } };
    const result = await rpc.run(input.value, caller);
    return result.kind === "refused" ? result : { kind: "done", bytes: encode(rpc.response, result.response) };
  },
});

/** An rpc of the AdminService whose responses stream. */
export type OperatorStreamRpc<Request, Input> = ServerStreamRpc<Request, Input, Operator>;
export type OperatorStreamRoute = ServerStreamRoute<ServingDependencies>;
/** Makes the handler of such an rpc. */
export type OperatorStream = <Request, Input>(rpc: OperatorStreamRpc<Request, Input>) => OperatorStreamRoute;

/**
 * Returns a function that makes handlers of streams. The checks are those of `serve`. An open
 * stream repeats those of key and role.
 */
export function operatorStream(authenticator: OperatorAuthenticator): OperatorStream {
  return (rpc) => serverStreamOf(rpc, admitting(authenticator));
}

function admitting(authenticator: OperatorAuthenticator): Admit<Operator, ServingDependencies> {
  return async ({ requiredRoles: roles }, { isStopping }, { call, record }) => {
    if (isStopping()) return { reason: "SHUTTING_DOWN" };
    const operator = await authenticator.authenticate(call);
    if ("reason" in operator) return operator;
    record.operator = operator;
    return operator.roles.some((role) => roles.includes(role)) ? operator : { reason: "ROLE_REQUIRED", roles };
  };
}

function machineCaller(): Caller<undefined> {
  return {
    key: undefined,
    requestId: requestIdOf(undefined),
    idempotencyKey: undefined,
    deadline: toUnixMillis(Number.MAX_SAFE_INTEGER),
    trace: undefined,
    bucket: undefined,
  };
}
