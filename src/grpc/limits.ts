import type { ServerOptions } from "@grpc/grpc-js";

/** What the server puts up with. */
export interface GrpcLimits {
  /** The largest request, in bytes; a larger one is RESOURCE_EXHAUSTED. */
  readonly requestBytesMax: number;
  /** The same for an rpc that takes many at once. */
  readonly bulkBytesMax: number;
  /** How long a call may take to send its request; then it is DEADLINE_EXCEEDED. */
  readonly requestMillisMax: number;
  /** The most time that a call has, however far away its own deadline is. */
  readonly callMillisMax: number;
  /** The most calls in flight on one connection; a client keeps the others back. */
  readonly concurrentCallsMax: number;
  /**
   * The most calls in flight on all connections, and of one caller half of it; one more is
   * QUEUE_FULL.
   */
  readonly callsMax: number;
  /** A connection is pinged when it has been quiet for this long … */
  readonly keepaliveMillis: number;
  /** … and closed when the answer takes longer than this. */
  readonly keepaliveTimeoutMillis: number;
  /** A connection without a call is closed after this long. */
  readonly connectionIdleMillisMax: number;
  /**
   * A connection is asked to go after this long, give or take a tenth, so that clients spread over
   * new servers …
   */
  readonly connectionAgeMillisMax: number;
  /** … and closed, with the calls that are left on it, after this much longer. */
  readonly connectionAgeGraceMillis: number;
  /**
   * How long a server that stops still takes new calls, while health says NOT_SERVING and load
   * balancers look away.
   */
  readonly lameDuckMillis: number;
}

// Answers that a client asks for and does not read stay in memory: past so many, its next calls are
// refused, and after a hundred of those its connection is closed. Several of the largest pages, for
// a client that reads.
const CONNECTION_MEGABYTES_MAX = 128;

export function serverOptionsOf(limits: GrpcLimits): ServerOptions {
  return {
    // One for all rpcs. Those that must keep to less are held to it when their request is there:
    // see call-guard.ts.
    "grpc.max_receive_message_length": Math.max(limits.requestBytesMax, limits.bulkBytesMax),
    "grpc.max_concurrent_streams": limits.concurrentCallsMax,
    "grpc.keepalive_time_ms": limits.keepaliveMillis,
    "grpc.keepalive_timeout_ms": limits.keepaliveTimeoutMillis,
    "grpc.max_connection_idle_ms": limits.connectionIdleMillisMax,
    "grpc.max_connection_age_ms": limits.connectionAgeMillisMax,
    "grpc.max_connection_age_grace_ms": limits.connectionAgeGraceMillis,
    "grpc-node.max_session_memory": CONNECTION_MEGABYTES_MAX,
    // Counts every call of every connection, for a service that we do not offer.
    "grpc.enable_channelz": 0,
  };
}
