import type { Operator } from "../../operators/operator.js";
import type { ServingDependencies } from "../calls/call-context.js";
import { routeOf, type UnaryRoute, type UnaryRpc } from "../calls/unary-call.js";
import type { OperatorAuthenticator } from "./authenticator.js";

/** An rpc of the AdminService. */
export type OperatorRpc<Request, Input, Response> = UnaryRpc<Request, Input, Response, Operator>;
export type OperatorRoute = UnaryRoute<ServingDependencies>;
/** Makes the handler of an rpc. */
export type OperatorUnary = <Request, Input, Response>(rpc: OperatorRpc<Request, Input, Response>) => OperatorRoute;

/**
 * Returns a function that makes handlers. Each checks, in this order: SHUTTING_DOWN,
 * MISSING_OPERATOR_KEY, INVALID_OPERATOR_KEY, ROLE_REQUIRED, INVALID_FIELD, then the refusals of
 * `run`.
 */
export function operatorUnary(authenticator: OperatorAuthenticator): OperatorUnary {
  return (rpc) =>
    routeOf(rpc, async ({ requiredRoles: roles }, { isStopping }: ServingDependencies, { call, record }) => {
      if (isStopping()) return { reason: "SHUTTING_DOWN" };
      const operator = await authenticator.authenticate(call);
      if ("reason" in operator) return operator;
      record.operator = operator;
      return operator.roles.some((role) => roles.includes(role)) ? operator : { reason: "ROLE_REQUIRED", roles };
    });
}
