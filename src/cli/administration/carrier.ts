import type { IdempotencyKey } from "../../domain/values/text.js";
import type { AdminRpc } from "./contract.js";

/** One call. */
export interface CarriedCall {
  readonly rpc: AdminRpc;
  /** The encoded message. */
  readonly request: Buffer;
  readonly idempotencyKey?: IdempotencyKey | undefined;
  /** For which organization an rpc of organizations is called. */
  readonly organizationId?: string | undefined;
  /** Called once, with what the metadata of a call tells that was not refused. */
  readonly onHead?: (head: CallHead) => void;
}

/** What the head of a call tells. */
export interface CallHead {
  /** Whether it was so before. Then nothing was written. */
  readonly unchanged: boolean;
  /** The proposal that waits for a second person. Then nothing was done. */
  readonly proposalId: string | undefined;
}

/** Carries the bytes of calls. */
export interface Carrier {
  readonly isAtServer: boolean;
  /** Returns the encoded responses of one call. Throws a RefusedCallError if it was refused. */
  carry(call: CarriedCall): AsyncIterable<Uint8Array>;
}
