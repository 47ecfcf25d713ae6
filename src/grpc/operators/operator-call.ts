import { BinaryWriter } from "@bufbuild/protobuf/wire";

import { AdminServiceService } from "../../gen/kesc/admin/v1/admin_service.js";
import { SessionServiceService } from "../../gen/kesc/admin/v1/session_service.js";
import type { CallingOperator } from "../../operators/session.js";
import { type Admit, parseRequest, type ServingDependencies } from "../calls/call-context.js";
import { type CallHead, refuse, type RpcResult } from "../calls/rpc-result.js";
import {
  type EncodedMessages,
  serverStreamOf,
  type ServerStreamRoute,
  type ServerStreamRpc,
} from "../calls/server-stream-call.js";
import {
  callerInProcess,
  type CallInProcess,
  routeOf,
  runInProcess,
  type UnaryRoute,
  type UnaryRpc,
} from "../calls/unary-call.js";
import { uploadOf, type UploadRoute, type UploadRpc } from "../calls/upload-call.js";
import type { RpcContract } from "../messages/contract.js";
import { masked } from "../messages/masked.js";
import type { OperatorAuthenticator } from "./authenticator.js";
import { needsVerification } from "./freshness.js";
import type { HandlersOptions } from "./options.js";
import { isChange, type PersonTurns } from "./person-turns.js";

const RPCS = { ...AdminServiceService, ...SessionServiceService };
type RpcName = keyof typeof RPCS;
export type RequestOf<Name extends RpcName> = ReturnType<(typeof RPCS)[Name]["requestDeserialize"]>;
export type ResponseOf<Name extends RpcName> = Parameters<(typeof RPCS)[Name]["responseSerialize"]>[0];

/**
 * An rpc of the AdminService or of the SessionService. Its caller is an operator, or undefined for
 * the machine: the `kesc` command on the database.
 */
export interface OperatorRpc<Name extends RpcName, Input> extends Omit<
  UnaryRpc<RequestOf<Name>, Input, ResponseOf<Name>, CallingOperator | undefined>,
  "request" | "response"
> {
  /** Whether a call only takes power away, so that its session need not be fresh. None omitted. */
  readonly takesPowerAway?: (input: Input) => boolean;
  /**
   * How many parts the command has that a call lets the ledger decide, if it is a trial or may have
   * many. Undefined if the call is neither. None omitted.
   */
  readonly partsOf?: (input: Input) => number | undefined;
  /** Whether the response shows personal data in full. Otherwise it is masked. */
  readonly showsPersonalData?: true;
}

/** An rpc of operators whose responses stream. */
type OperatorStreamRpc<Request, Input> = ServerStreamRpc<Request, Input, CallingOperator | undefined>;

/** Who admits the calls of operators. */
export interface OperatorGate extends HandlersOptions {
  readonly authenticator: OperatorAuthenticator;
  readonly personTurns: PersonTurns;
}

/** An rpc of the AdminService with its two ways in. */
export interface OperatorRoute {
  /**
   * Makes the handler for operators. It checks, in this order: SHUTTING_DOWN, MISSING_OPERATOR_KEY,
   * RESTORE_NOT_CONFIRMED, INVALID_OPERATOR_KEY, ROLE_REQUIRED, QUEUE_FULL of what takes turns,
   * INVALID_FIELD, VERIFICATION_REQUIRED, then the refusals of `run` of the rpc. An open stream
   * repeats the checks of key and role. Throws if the contract demands a key, and the rpc takes
   * none, or the contrary.
   */
  serve(
    gate: OperatorGate,
  ): UnaryRoute<ServingDependencies> | ServerStreamRoute<ServingDependencies> | UploadRoute<ServingDependencies>;
  /**
   * Runs the rpc in this process, without a key and without a deadline. Checks INVALID_FIELD, then
   * the refusals of `run` of the rpc. A unary rpc makes one message. Rejects with the errors that
   * `run` throws.
   */
  readonly runForMachine: RunForMachine;
}

export type RunForMachine = (contract: RpcContract, call: MachineCall) => EncodedMessages;

/** A call of the machine. */
export interface MachineCall extends Omit<CallInProcess, "key"> {
  /** For which organization an rpc of organizations is called. */
  readonly organizationId?: string | undefined;
  /** Called once for a unary rpc that was not refused. */
  readonly onHead?: (head: CallHead) => void;
}

/** Makes the route of the rpc of this name. */
export type OperatorUnary = <Name extends RpcName, Input>(name: Name, rpc: OperatorRpc<Name, Input>) => OperatorRoute;
/** Makes the route of an rpc whose responses stream. */
export type OperatorStream = <Request, Input>(rpc: OperatorStreamRpc<Request, Input>) => OperatorRoute;

const NOT_FRESH = { reason: "VERIFICATION_REQUIRED" } as const;

export const unary: OperatorUnary = (name, { takesPowerAway, partsOf, showsPersonalData, ...own }) => {
  const rpc = { ...messagesOf(name), ...own };
  return {
    serve: (gate) => (contract, dependencies) => {
      const changes = isChange(contract);
      const waits = changes || (partsOf !== undefined && contract.idempotencyKey !== "ignored");
      const run: typeof rpc.run = async (input, caller) => {
        if (await needsVerification(gate, { contract, input, caller: caller.key, takesPowerAway }))
          return refuse(NOT_FRESH);
        const parts = partsOf?.(input);
        const work = () => rpc.run(input, caller);
        if (changes) return gate.personTurns.run("change", caller, work);
        return parts === undefined ? work() : gate.personTurns.run("trial", caller, work, parts);
      };
      const route = routeOf({ ...rpc, run }, waits ? admittingUnlessFull(gate) : admitting(gate));
      return route(keyed(contract), showsPersonalData ? dependencies : { ...dependencies, shown: masked });
    },
    runForMachine: (contract, call) =>
      oneMessage(runInProcess(rpc, contract, { ...call, key: undefined, shown: showsPersonalData && asIs }), call),
  };
};

function messagesOf<Name extends RpcName>(
  name: Name,
): Pick<UnaryRpc<RequestOf<Name>, unknown, ResponseOf<Name>>, "request" | "response"> {
  const { requestDeserialize, responseSerialize } = RPCS[name];
  return {
    request: { decode: (bytes) => requestDeserialize(Buffer.from(bytes)) as RequestOf<Name> },
    response: { encode: (message, writer = new BinaryWriter()) => writer.raw(responseSerialize(message as never)) },
  };
}

function asIs<Message>(message: Message): Message {
  return message;
}

/** Makes the messages of a unary call in this process: one, after the head. */
export async function* oneMessage(
  running: Promise<RpcResult<Buffer>>,
  { onHead }: Pick<MachineCall, "onHead">,
): EncodedMessages {
  const result = await running;
  if (result.kind === "refused") return result.refusal;
  onHead?.(result);
  yield result.response;
  return undefined;
}

export const operatorStream: OperatorStream = <Request, Input>(rpc: OperatorStreamRpc<Request, Input>) => ({
  serve: (gate: OperatorGate) => (contract: RpcContract, dependencies: ServingDependencies) => {
    const run: typeof rpc.run = async function* (input, caller, signal) {
      if (await needsVerification(gate, { contract, input, caller: caller.key })) return NOT_FRESH;
      return yield* rpc.run(input, caller, signal);
    };
    const route = serverStreamOf<Request, Input, CallingOperator, ServingDependencies>(
      { ...rpc, run },
      admitting(gate),
    );
    return route(keyed(contract), dependencies);
  },
  async *runForMachine(contract: RpcContract, { request, idempotencyKey }: MachineCall) {
    const caller = callerInProcess({ key: undefined, idempotencyKey });
    const input = parseRequest(rpc, contract, request, caller);
    if (!input.ok) return { reason: "INVALID_FIELD", fields: input.fields } as const;
    // Nobody but the end of the process ends the stream.
    return yield* rpc.run(input.value, caller, new AbortController().signal);
  },
});

/** Makes the route of an rpc that takes a file. In this process one message has all of it. */
export const upload = <Name extends RpcName, Input>(
  name: Name,
  own: Omit<UploadRpc<RequestOf<Name>, Input, ResponseOf<Name>, CallingOperator | undefined>, "request" | "response">,
): OperatorRoute => {
  const rpc = { ...messagesOf(name), ...own };
  return {
    serve: (gate) => (contract, dependencies) => {
      const run: typeof rpc.run = async (input, bytes, caller) =>
        (await needsVerification(gate, { contract, input, caller: caller.key }))
          ? refuse(NOT_FRESH)
          : rpc.run(input, bytes, caller);
      return uploadOf<RequestOf<Name>, Input, ResponseOf<Name>, CallingOperator, ServingDependencies>(
        { ...rpc, run },
        admitting(gate),
      )(keyed(contract), { ...dependencies, shown: masked });
    },
    runForMachine: (contract, call) => {
      const whole: UnaryRpc<
        RequestOf<Name>,
        { readonly input: Input; readonly bytes: Uint8Array },
        ResponseOf<Name>,
        CallingOperator | undefined
      > = {
        ...rpc,
        parse: (request, caller) => {
          const input = rpc.parse(request, caller);
          return input.ok
            ? { ok: true, value: { input: input.value, bytes: new Uint8Array(rpc.pieceOf(request)) } }
            : input;
        },
        run: ({ input, bytes }, caller) => rpc.run(input, bytes, caller),
      };
      return oneMessage(runInProcess(whole, contract, { ...call, key: undefined, shown: undefined }), call);
    },
  };
};

/** Makes the route of an rpc that needs no key, and does not know its caller. */
export const open: OperatorUnary = (name, rpc) => ({
  ...unary(name, rpc),
  serve:
    ({ authenticator }) =>
    (contract, dependencies) => {
      if (!contract.isPublic) throw new Error(`${contract.name} needs a key, but its handler takes none`);
      const admitAll: Admit<undefined, ServingDependencies> = async (_contract, { isStopping }) => {
        if (isStopping()) return { reason: "SHUTTING_DOWN" };
        return (await authenticator.restoreWaits()) ? { reason: "RESTORE_NOT_CONFIRMED" } : undefined;
      };
      return routeOf({ ...messagesOf(name), ...rpc }, admitAll)(contract, dependencies);
    },
});

/** Throws for a public rpc: a handler with a key would take its callers for the machine. */
function keyed(contract: RpcContract): RpcContract {
  if (contract.isPublic) throw new Error(`${contract.name} needs no key, but its handler does`);
  return contract;
}

/** Admits an operator who has one of the roles of the rpc. */
export function admitting({
  authenticator,
}: Pick<OperatorGate, "authenticator">): Admit<CallingOperator, ServingDependencies> {
  return async ({ requiredRoles: roles, isBackground }, { isStopping }, { call, record }) => {
    if (isStopping()) return { reason: "SHUTTING_DOWN" };
    const operator = await authenticator.authenticate(call, isBackground);
    if ("reason" in operator) return operator;
    record.operator = operator;
    return operator.roles.some((role) => roles.includes(role)) ? operator : { reason: "ROLE_REQUIRED", roles };
  };
}

/** Admits such an operator, unless too many of their calls wait for their turn: QUEUE_FULL. */
function admittingUnlessFull(gate: OperatorGate): Admit<CallingOperator, ServingDependencies> {
  const admit = admitting(gate);
  return async (contract, dependencies, call) => {
    const operator = await admit(contract, dependencies, call);
    return "reason" in operator ? operator : ((await gate.personTurns.refusalOf(operator)) ?? operator);
  };
}
