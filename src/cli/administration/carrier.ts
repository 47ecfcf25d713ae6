import type { RpcDefinition } from "./definitions.js";

/** Carries the bytes of calls. */
export interface Carrier {
  readonly isAtServer: boolean;
  /** Returns the encoded responses of one call. Throws a RefusedCallError if it was refused. */
  carry(rpc: RpcDefinition, name: string, request: Buffer): AsyncIterable<Uint8Array>;
}
