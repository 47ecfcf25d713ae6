import type { MachineCall } from "../../grpc/calls/operator-gate.js";
import type { AdminRpc } from "./contract.js";

/** One call. */
export interface CarriedCall extends MachineCall {
  readonly rpc: AdminRpc;
  /** The messages behind `request`. Only a server takes them. */
  readonly more?: Iterable<Uint8Array> | undefined;
}

/** Carries the bytes of calls. */
export interface Carrier {
  readonly isAtServer: boolean;
  /** Returns the encoded responses of one call. Throws a RefusedCallError if it was refused. */
  carry(call: CarriedCall): AsyncIterable<Uint8Array>;
}
