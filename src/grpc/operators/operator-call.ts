import type { Operator } from "../../operators/operator.js";
import type { Admit, ServingDependencies } from "../calls/call-context.js";
import { serverStreamOf, type ServerStreamRoute, type ServerStreamRpc } from "../calls/server-stream-call.js";
import { routeOf, type UnaryRoute, type UnaryRpc } from "../calls/unary-call.js";
import type { OperatorAuthenticator } from "./authenticator.js";

/** An rpc of the AdminService. */
export type OperatorRpc<Request, Input, Response> = UnaryRpc<Request, Input, Response, Operator>;
export type OperatorRoute = UnaryRoute<ServingDependencies>;
/** Makes the handler of an rpc. */
export type OperatorUnary = <Request, Input, Response>(rpc: OperatorRpc<Request, Input, Response>) => OperatorRoute;

/** An rpc of the AdminService whose responses stream. */
export type OperatorStreamRpc<Request, Input> = ServerStreamRpc<Request, Input, Operator>;
export type OperatorStreamRoute = ServerStreamRoute<ServingDependencies>;
/** Makes the handler of such an rpc. */
export type OperatorStream = <Request, Input>(rpc: OperatorStreamRpc<Request, Input>) => OperatorStreamRoute;

/**
 * Returns a function that makes handlers. Each checks, in this order: SHUTTING_DOWN,
 * MISSING_OPERATOR_KEY, INVALID_OPERATOR_KEY, ROLE_REQUIRED, INVALID_FIELD, then the refusals of
 * `run`.
 */
export function operatorUnary(authenticator: OperatorAuthenticator): OperatorUnary {
  return (rpc) => routeOf(rpc, admitting(authenticator));
}

/** The same for rpcs whose responses stream. An open stream repeats the checks of key and role. */
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
