/**
 * What the orchestrator asks of the load process, and what it hears back. Both travel as JSON over
 * the IPC channel.
 */

/** Which request a job repeats. `empty` is a mint's request to the handler that does nothing. */
export type CallName = "mint" | "getAccount" | "getTransaction" | "empty";

/**
 * One measurement: as many calls as fit, with never more and rarely fewer than `inFlight` waiting
 * for their answer.
 */
export interface Job {
  /** "grpcBatches" sends what it is told to repeat, a mint, a thousand at a time. */
  transport: "grpc" | "grpcBatches" | "rest";
  call: CallName;

  /** Each "host:port". The connections of gRPC go to these in turn, those of REST to the first. */
  addresses: readonly [string, ...string[]];

  /**
   * Connections over which the calls in flight are spread evenly. REST needs one for each call in
   * flight.
   */
  connections: number;
  /** Calls; a batch is one. */
  inFlight: number;

  /**
   * Calls are started at this rate, however long the answers take; `inFlight` is then only the most
   * that may wait. Absent: a call is started as soon as another is answered. For gRPC only.
   */
  ratePerSecond?: number;

  /** The job ends early when so many calls have been started. Absent: it does not. */
  callsMax?: number;

  /** Sent as `x-api-key`. */
  apiKey: string;

  /** For gRPC: a key for each account, in the order of the accounts. Absent: `apiKey` for all. */
  apiKeys?: string[];

  /** Whether each mint carries an idempotency key of its own. For REST only; absent: none does. */
  keyed?: boolean | undefined;

  /** The calls go to these accounts in turn. */
  accountIds: string[];

  /** For `getTransaction`: a transaction of each account, in the order of the accounts. */
  transactionIds?: string[];

  /** What each mint mints, with two fraction digits. */
  amount: string;

  /** The first call's serial number, part of its reference; later calls count up from it. */
  firstSerial: number;

  /** Load before anything is counted, so that connections and queues are in their steady state. */
  rampSeconds: number;

  /** The measured window, after the ramp. */
  seconds: number;
}

/** What a job's measured window showed, and what all its calls did. */
export interface LoadResult {
  /** Right answers that arrived in the window. */
  callsInWindow: number;
  callsPerSecond: number;
  p50Millis: number;
  p99Millis: number;

  /** Processor time of the load process, for each call of the window. */
  loadMicrosecondsPerCall: number;

  /**
   * Share of the window in which the load process computed. Near 1 it measures itself and not the
   * server.
   */
  loadBusy: number;

  /** Right answers for each account, the ramp's and the last ones after the window included. */
  acknowledged: number[];

  /** Calls started, hence serial numbers used. */
  started: number;

  /** Wrong answers and failed calls, counted by what was wrong with them. */
  problems: Record<string, number>;
}

/** The load process's whole answer to a job. */
export type Reply = { result: LoadResult } | { failure: string };
