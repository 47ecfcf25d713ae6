import type { IdempotencyKey } from "../../domain/values/text.js";
import type { RpcDefinition } from "./definitions.js";

/** One call. */
export interface CarriedCall {
  /** The name of the rpc. */
  readonly name: string;
  /** The encoded message. */
  readonly request: Buffer;
  readonly idempotencyKey?: IdempotencyKey | undefined;
}

/** Carries the bytes of calls. */
export interface Carrier {
  readonly isAtServer: boolean;
  /** Returns the encoded responses of one call. Throws a RefusedCallError if it was refused. */
  carry(rpc: RpcDefinition, call: CarriedCall): AsyncIterable<Uint8Array>;
}
