import { requestIdOf } from "../../../runtime/caller-ids.js";
import type { IdempotencyKey } from "../../domain/values/text.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { BookOwner } from "../../operators/reads.js";
import type { AnyRefusal } from "../errors/refusal.js";
import type { RpcContract } from "../messages/contract.js";
import type { Admitted, CallDependencies, Caller, OperatorRules } from "./call-context.js";
import type { CallHead } from "./rpc-result.js";

/**
 * The messages of a stream, encoded. The stream takes the next one when the client has room for it.
 * What the generator returns ends the stream: a refusal, or undefined for OK.
 */
export type EncodedMessages = AsyncGenerator<Buffer, AnyRefusal | undefined, void>;

/** An rpc with its two ways in. */
export interface RpcRoute<Handler = unknown> {
  /**
   * Makes the handler of an address. Throws if the contract demands a key or an organization, and
   * the rpc does not, or the contrary.
   */
  (contract: RpcContract, dependencies: CallDependencies): Handler;
  /**
   * Runs the rpc in this process, without a deadline, for a caller whom it has admitted. Checks
   * INVALID_FIELD, then the refusals of `run` of the rpc. A unary rpc makes one message. Undefined:
   * only a server runs it.
   */
  readonly inProcess?: (contract: RpcContract, call: AdmittedInProcess) => EncodedMessages;
}

/** A call in this process. */
export interface CallInProcess {
  /** The encoded message. */
  readonly request: Buffer;
  readonly idempotencyKey?: IdempotencyKey | undefined;
  /** Called once for a unary rpc that was not refused. */
  readonly onHead?: (head: CallHead) => void;
}

export interface AdmittedInProcess extends CallInProcess {
  readonly admitted: Admitted<BookOwner | undefined>;
  readonly rules: Pick<OperatorRules, "problemsIn">;
}

/** Makes the caller of a call in this process, which nobody waits for. */
export function callerInProcess<Of extends BookOwner | undefined>({
  admitted,
  idempotencyKey,
}: AdmittedInProcess): Caller<Of> {
  return {
    ...(admitted as Admitted<Of>),
    idempotencyKey,
    requestId: requestIdOf(undefined),
    deadline: toUnixMillis(Number.MAX_SAFE_INTEGER),
    trace: undefined,
    bucket: undefined,
  };
}
