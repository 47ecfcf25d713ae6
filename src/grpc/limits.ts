import type { ServerOptions } from "@grpc/grpc-js";

import type { RateLimits } from "./calls/call-rates.js";

/** The resource limits of the server. */
export interface GrpcLimits extends RateLimits {
  /** Maximum size of a request in bytes. A larger one is refused with REQUEST_TOO_LARGE. */
  readonly requestBytesMax: number;
  /** Maximum size of a request to an rpc with the option `bulk`, in bytes. */
  readonly bulkBytesMax: number;
  /** Maximum time for a request to arrive. After it the call ends with DEADLINE_EXCEEDED. */
  readonly requestMillisMax: number;
  /** Upper bound of a call's deadline. */
  readonly callMillisMax: number;
  /**
   * Maximum number of calls in flight on one connection. The HTTP/2 client holds further calls
   * back.
   */
  readonly concurrentCallsMax: number;
  /**
   * Maximum number of calls in flight on all connections. One organization can hold half of it. One
   * more call is refused with QUEUE_FULL. Calls without a known key have half as many slots of
   * their own, which connections share in the same way.
   */
  readonly callsMax: number;
  /**
   * Maximum number of open streams that need no key, such as health watches. One connection can
   * hold half of it. One more is refused with QUEUE_FULL. A health check needs no room.
   */
  readonly openCallsMax: number;
  /**
   * Maximum number of calls of public rpcs in flight, such as callbacks. One connection can hold
   * half of it. One more is refused with QUEUE_FULL.
   */
  readonly publicCallsMax: number;
  /** The server pings a connection after this time without data … */
  readonly keepaliveMillis: number;
  /** … and closes it if the response to the ping takes longer than this. */
  readonly keepaliveTimeoutMillis: number;
  /** The server closes a connection after this time without a call. */
  readonly connectionIdleMillisMax: number;
  /**
   * The server asks a connection to close after this time, give or take a tenth. Clients then
   * reconnect and spread over new servers …
   */
  readonly connectionAgeMillisMax: number;
  /**
   * … and after this additional time it closes the connection, together with its remaining calls.
   */
  readonly connectionAgeGraceMillis: number;
  /**
   * How long a stopping server still accepts calls. Health already reports NOT_SERVING, so load
   * balancers choose other servers.
   */
  readonly lameDuckMillis: number;
}

// Responses that a client does not read stay in memory. Above this limit grpc-js refuses the
// client's next calls, and closes the connection after a hundred of them. A client that reads can
// have several of the largest pages at once.
const CONNECTION_MEGABYTES_MAX = 128;

export function serverOptionsOf(limits: GrpcLimits): ServerOptions {
  return {
    // grpc-js has one limit for all rpcs. request-guard.ts applies the smaller limit of the other
    // rpcs.
    "grpc.max_receive_message_length": Math.max(limits.requestBytesMax, limits.bulkBytesMax),
    "grpc.max_concurrent_streams": limits.concurrentCallsMax,
    "grpc.keepalive_time_ms": limits.keepaliveMillis,
    "grpc.keepalive_timeout_ms": limits.keepaliveTimeoutMillis,
    "grpc.max_connection_idle_ms": limits.connectionIdleMillisMax,
    "grpc.max_connection_age_ms": limits.connectionAgeMillisMax,
    "grpc.max_connection_age_grace_ms": limits.connectionAgeGraceMillis,
    "grpc-node.max_session_memory": CONNECTION_MEGABYTES_MAX,
    // Channelz counts every call of every connection, for a service that we do not offer.
    "grpc.enable_channelz": 0,
  };
}
