import type { DescMethod } from "@bufbuild/protobuf";

import type { IdempotencyKey } from "../../domain/values/text.js";

/** One call. */
export interface CarriedCall {
  readonly rpc: DescMethod;
  /** The encoded message. */
  readonly request: Buffer;
  readonly idempotencyKey?: IdempotencyKey | undefined;
}

/** Carries the bytes of calls. */
export interface Carrier {
  readonly isAtServer: boolean;
  /** Returns the encoded responses of one call. Throws a RefusedCallError if it was refused. */
  carry(call: CarriedCall): AsyncIterable<Uint8Array>;
}
