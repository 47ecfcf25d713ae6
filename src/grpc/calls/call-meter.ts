import type { RpcContract } from "../messages/contract.js";

/** What the log line of a call says that is counted. */
export interface EndOfCall {
  /** The name of the gRPC status. */
  readonly code: string;
  readonly reason: string | undefined;
  readonly ms: number;
  readonly items: number | undefined;
  readonly items_refused: number | undefined;
}

/** Counts the calls of one rpc. */
export interface RpcMeter {
  started(): void;
  ended(end: EndOfCall): void;
}

/** Counts calls. The server has none when its metrics are off. */
export interface CallMeter {
  rpc(contract: RpcContract): RpcMeter;
  /** Counts a call that was refused before its handler ran. */
  refused(reason: string): void;
}
