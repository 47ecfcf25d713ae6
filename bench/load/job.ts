/**
 * The messages between a benchmark and its load process. They travel as JSON over the IPC channel.
 */

/** The request that a job repeats. `empty` is a mint's request to the handler that does nothing. */
export type CallName = "mint" | "getAccount" | "empty";

/** One measurement: the load process keeps `inFlight` calls waiting for their answer. */
export interface Job {
  /** "grpcBatches" sends mints in BatchCreateTransactions, 1,000 in each call. */
  transport: "grpc" | "grpcBatches" | "rest" | "blnk";
  call: CallName;
  /** The command of the build that answers: gRPC calls have its contract. Absent: this build. */
  kesc?: string;
  /** Each "host:port". gRPC connections go to these in turn, REST connections to the first. */
  addresses: readonly [string, ...string[]];
  /** The calls in flight are spread evenly over these. REST needs one for each call in flight. */
  connections: number;
  /** Calls; a batch is one. */
  inFlight: number;
  /**
   * Starts calls at this rate, however long the answers take; `inFlight` is then only a limit.
   * Absent: an answer starts the next call. For gRPC only.
   */
  ratePerSecond?: number;
  /** Ends the job after this many calls. Absent: only the time ends it. */
  callsMax?: number;
  /** Sent as `x-api-key`. */
  apiKey: string;
  /** For gRPC only: the key of each account in turn, in place of `apiKey`. */
  apiKeys?: string[];
  /** Blnk only: the source of the transactions of each connection. */
  sources?: string[];
  /** REST only: each mint carries an idempotency key of its own. */
  keyed?: boolean;
  /** The calls go to these accounts in turn. */
  accountIds: string[];
  /** The amount of each mint, with two fraction digits. */
  amount: string;
  /** The first call's serial number, part of its reference; later calls count up from it. */
  firstSerial: number;
  /** Load before the measured window, so that connections and queues reach their steady state. */
  rampSeconds: number;
  /** The measured window, after the ramp. */
  seconds: number;
}

/** The figures of a job's measured window, and the books of all its calls. */
export interface LoadResult {
  /** Right answers that arrived in the window. */
  callsInWindow: number;
  callsPerSecond: number;
  p50Millis: number;
  p99Millis: number;
  /** Share of the window in which the load process computed. Near 1 it measures itself. */
  loadBusy: number;
  /** Right answers for each account, those outside the window included. */
  acknowledged: number[];
  /** Calls started, hence serial numbers used. */
  started: number;
  /** Wrong answers and failed calls, counted by their cause. */
  problems: Record<string, number>;
}

/** The load process's whole answer to a job. */
export type Reply = { result: LoadResult } | { failure: string };
