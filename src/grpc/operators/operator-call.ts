import { requestIdOf } from "../../../runtime/request-id.js";
import type { IdempotencyKey } from "../../domain/values/text.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { Operator } from "../../operators/operator.js";
import { type Admit, type Caller, parseRequest, type ServingDependencies } from "../calls/call-context.js";
import {
  type EncodedMessages,
  serverStreamOf,
  type ServerStreamRoute,
  type ServerStreamRpc,
} from "../calls/server-stream-call.js";
import { routeOf, type UnaryRoute, type UnaryRpc } from "../calls/unary-call.js";
import type { RpcContract } from "../messages/contract.js";
import { encode } from "../messages/encode.js";
import type { OperatorAuthenticator } from "./authenticator.js";

/**
 * An rpc of the AdminService. Its caller is an operator, or undefined for the machine: the `kesc`
 * command on the database.
 */
export type OperatorRpc<Request, Input, Response> = UnaryRpc<Request, Input, Response, Operator | undefined>;

/** The same of an rpc whose responses stream. */
type OperatorStreamRpc<Request, Input> = ServerStreamRpc<Request, Input, Operator | undefined>;

/** An rpc of the AdminService with its two ways in. */
export interface OperatorRoute {
  /**
   * Makes the handler for operators. It checks, in this order: SHUTTING_DOWN, MISSING_OPERATOR_KEY,
   * INVALID_OPERATOR_KEY, ROLE_REQUIRED, INVALID_FIELD, then the refusals of `run` of the rpc. An
   * open stream repeats the checks of key and role.
   */
  serve(authenticator: OperatorAuthenticator): UnaryRoute<ServingDependencies> | ServerStreamRoute<ServingDependencies>;
  /**
   * Runs the rpc in this process, without a key and without a deadline. Checks INVALID_FIELD, then
   * the refusals of `run` of the rpc. A unary rpc makes one message. Rejects with the errors that
   * `run` throws.
   */
  runForMachine(contract: Pick<RpcContract, "input">, bytes: Buffer, idempotencyKey?: IdempotencyKey): EncodedMessages;
}

/** Makes the route of an rpc. */
export type OperatorUnary = <Request, Input, Response>(rpc: OperatorRpc<Request, Input, Response>) => OperatorRoute;
/** Makes the route of an rpc whose responses stream. */
export type OperatorStream = <Request, Input>(rpc: OperatorStreamRpc<Request, Input>) => OperatorRoute;

export const operatorUnary: OperatorUnary = (rpc) => ({
  serve: (authenticator) => routeOf(rpc, admitting(authenticator)),
  runForMachine: forMachine(rpc, async function* (input, caller) {
    const result = await rpc.run(input, caller);
    if (result.kind === "refused") return result.refusal;
    yield encode(rpc.response, result.response);
    return undefined;
  }),
});

export const operatorStream: OperatorStream = <Request, Input>(rpc: OperatorStreamRpc<Request, Input>) => ({
  serve: (authenticator: OperatorAuthenticator) =>
    serverStreamOf<Request, Input, Operator, ServingDependencies>(rpc, admitting(authenticator)),
  // Nobody but the end of the process ends the stream.
  runForMachine: forMachine(rpc, (input, caller) => rpc.run(input, caller, new AbortController().signal)),
});

function forMachine<Request, Input>(
  rpc: Pick<OperatorStreamRpc<Request, Input>, "request" | "parse">,
  run: (input: Input, caller: Caller<undefined>) => EncodedMessages,
): OperatorRoute["runForMachine"] {
  return async function* (contract, bytes, idempotencyKey) {
    const caller = { ...machineCaller(), idempotencyKey };
    const input = parseRequest(rpc, contract, bytes, caller);
    if (!input.ok) return { reason: "INVALID_FIELD", fields: input.fields };
    return yield* run(input.value, caller);
  };
}

/** Admits an operator who has one of the roles of the rpc. */
export function admitting(authenticator: OperatorAuthenticator): Admit<Operator, ServingDependencies> {
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
