import type { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { handleUnaryCall, ServerUnaryCall } from "@grpc/grpc-js";

import { traceOf } from "../../../runtime/error-trace.js";
import type { BookOwner } from "../../operators/reads.js";
import { withHead } from "../errors/status.js";
import type { RpcContract } from "../messages/contract.js";
import type { ParsedFields } from "../messages/fields.js";
import { masked } from "../messages/masked.js";
import { encode } from "../messages/wire-format.js";
import {
  type Admitted,
  type CallDependencies,
  type Caller,
  callerOf,
  type CallRecord,
  deadlineOf,
  headOf,
  headWith,
  type OperatorRules,
  optionsOf,
  parseCall,
  parseRequest,
  recordOf,
  refusalOfThrown,
} from "./call-context.js";
import { logCall, type Refused, refused } from "./call-log.js";
import { parserUnder, refusalUnder, refuseOtherContract, type RpcRules } from "./gate.js";
import { type AdmittedInProcess, callerInProcess, type EncodedMessages, type RpcRoute } from "./route.js";
import { type CallHead, refuse, type RpcResult } from "./rpc-result.js";

/** An rpc in two parts. `parse` only checks the shape of the request; `run` executes it. */
export interface UnaryRpc<
  Request,
  Input,
  Response,
  Of extends BookOwner | undefined = BookOwner,
> extends RpcRules<Input> {
  readonly request: { decode(bytes: Uint8Array): Request };
  readonly response: { encode(message: Response, writer?: BinaryWriter): BinaryWriter };
  readonly parse: (request: Request, caller: Caller<Of>) => ParsedFields<Input>;
  readonly run: (input: Input, caller: Caller<Of>) => Promise<RpcResult<Response>>;
  /**
   * How many parts the command has that a call lets the ledger decide, if it is a trial or may have
   * many. Undefined if the call is neither. None omitted.
   */
  readonly partsOf?: (input: Input) => number | undefined;
  /** Whether operators see the personal data of the response in full. Otherwise it is masked. */
  readonly showsPersonalData?: true;
}

/**
 * Takes and returns bytes. The handler itself decodes and encodes, so an error there is handled
 * like any other.
 */
type UnaryHandler = handleUnaryCall<Buffer, Buffer>;
export type UnaryRoute = RpcRoute<UnaryHandler>;

type Reply = (CallHead & { readonly kind: "done"; readonly bytes: Buffer }) | Refused;

const NO_BYTES = Buffer.alloc(0);

/**
 * Makes the handler of an rpc. Every call gets exactly one response and one log line.
 *
 * Checks what the gate of the address admits, INVALID_FIELD, what else the gate refuses, then the
 * refusals of `run`. INVALID_FIELD names every bad field at once, including the metadata
 * `idempotency-key`.
 *
 * With the metadata `kesc-validate-only: true` the call ends before `run`, with OK and an empty
 * response. An error of the database becomes STORAGE_UNAVAILABLE; any other error becomes INTERNAL.
 */
export function unary<Request extends object, Input, Response, Of extends BookOwner | undefined = BookOwner>(
  rpc: UnaryRpc<Request, Input, Response, Of>,
): UnaryRoute {
  const serve = (contract: RpcContract, dependencies: CallDependencies): UnaryHandler => {
    refuseOtherContract(contract, rpc);
    const { logger, onInFlight, steps, gate } = dependencies;
    const { rules } = gate;
    const meter = dependencies.meter?.rpc(contract);
    const parse = parserUnder(rules, contract, rpc.parse);
    const run = rules === undefined ? rpc.run : runnerUnder(rules, contract, rpc);

    const handle = async (
      call: ServerUnaryCall<Buffer, Buffer>,
      callback: Parameters<UnaryHandler>[1],
    ): Promise<void> => {
      const record = recordOf(call.metadata, contract, dependencies.tracing);
      let reply: Reply;
      try {
        reply = await replyTo(call, record);
      } catch (error) {
        record.thrown = error;
        reply = refused(refusalOfThrown(error, record.requestId));
      }
      steps.answer.add(() => {
        orFatal(() => {
          send(call, callback, { reply, record });
        });
      });
      steps.log.add(() => {
        orFatal(() => {
          logCall({ logger, meter }, contract, { record, ending: reply, cancelled: call.cancelled });
        });
        onInFlight(-1);
      });
    };

    const orFatal = (step: () => void): void => {
      try {
        step();
      } catch (error) {
        logger.fatal({ method: contract.name, trace: traceOf(error) }, "the response of a call could not be sent");
      }
    };

    const replyTo = async (call: ServerUnaryCall<Buffer, Buffer>, record: CallRecord): Promise<Reply> => {
      const admitting = gate.admit(contract, dependencies, { call, record });
      // A cached key is not a promise. Awaiting it anyway would cost a turn of the microtask queue.
      const admission = admitting instanceof Promise ? await admitting : admitting;
      if ("reason" in admission) return refused(admission);

      const options = optionsOf(call.metadata, contract);
      const { idempotencyKey } = options;
      // The gate has what the contract of the rpc asks for.
      const admitted = admission as Admitted<Of>;
      const caller = callerOf(admitted, record, { idempotencyKey, deadline: deadlineOf(call, dependencies) });
      const input = parseCall({ request: rpc.request, parse }, { contract, bytes: call.request, options, caller });
      if (!input.ok) return refused({ reason: "INVALID_FIELD", fields: input.fields });
      if (options.validateOnly) return { kind: "done", bytes: NO_BYTES, replayed: false };

      const result = await run(input.value, caller);
      if (result.kind === "refused") return refused(result.refusal);
      record.items = result.items;
      const response = rules === undefined ? result.response : shownTo(rpc, result.response);
      const { replayed, proposalId } = result;
      return { kind: "done", bytes: encode(rpc.response, response), replayed, proposalId };
    };

    return (call, callback) => {
      onInFlight(1);
      meter?.started();
      void handle(call, callback);
    };
  };
  return Object.assign(serve, {
    inProcess: (contract: RpcContract, call: AdmittedInProcess) => runInProcess(rpc, contract, call),
  });
}

/** Runs the rpc for operators: their rules may refuse a call, or let it wait. */
function runnerUnder<Request, Input, Response, Of extends BookOwner | undefined>(
  rules: OperatorRules,
  contract: RpcContract,
  rpc: UnaryRpc<Request, Input, Response, Of>,
): typeof rpc.run {
  return async (input, caller) => {
    const refusal = await refusalUnder(rules, rpc, { contract, input, caller });
    if (refusal !== undefined) return refuse(refusal);
    return rules.inTurn({ contract, caller, parts: rpc.partsOf?.(input) }, () => rpc.run(input, caller));
  };
}

/** Returns what operators see of a response. */
function shownTo<Response>({ showsPersonalData }: { readonly showsPersonalData?: true }, response: Response): Response {
  return showsPersonalData === true ? response : masked(response);
}

/**
 * Runs the rpc in this process, for a caller whom it has admitted. Checks INVALID_FIELD, then the
 * refusals of `run`. Makes one message. Rejects with the errors that `run` throws.
 */
export async function* runInProcess<Request extends object, Input, Response, Of extends BookOwner | undefined>(
  rpc: Pick<UnaryRpc<Request, Input, Response, Of>, "request" | "response" | "parse" | "run" | "showsPersonalData">,
  contract: RpcContract,
  call: AdmittedInProcess,
): EncodedMessages {
  const caller = callerInProcess<Of>(call);
  const input = parseRequest(
    { request: rpc.request, parse: parserUnder(call.rules, contract, rpc.parse) },
    contract,
    call.request,
    caller,
  );
  if (!input.ok) return { reason: "INVALID_FIELD", fields: input.fields };
  const result = await rpc.run(input.value, caller);
  if (result.kind === "refused") return result.refusal;
  call.onHead?.(result);
  yield encode(rpc.response, shownTo(rpc, result.response));
  return undefined;
}

function send(
  call: ServerUnaryCall<Buffer, Buffer>,
  callback: Parameters<UnaryHandler>[1],
  { reply, record }: { reply: Reply; record: CallRecord },
): void {
  const head = headOf(record);
  if (reply.kind === "refused") {
    callback(withHead(reply.status, head));
    return;
  }
  call.sendMetadata(headWith(head, reply));
  callback(null, reply.bytes);
}
