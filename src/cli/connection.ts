import { type ChannelCredentials, Client } from "@grpc/grpc-js";

import { clientExposure } from "../../runtime/transport/exposure.js";
import { serverNameFor } from "../../runtime/transport/server-name.js";
import type { Config } from "../startup/config.js";
import { configFromEnvironment } from "../startup/environment.js";
import { UsageError } from "../startup/operator-error.js";
import { usableCredentials } from "../startup/tls.js";

/** A server that a command calls. */
export interface CalledServer {
  readonly address: string;
  readonly connect: () => Client;
}

/** The server of the API at this address, or at that of KESC_GRPC_ADDRESS. Throws as the next. */
export function apiServer(address: string | undefined): CalledServer {
  const config = configFromEnvironment();
  return serverAt(address ?? config.grpcAddress, {
    ...config,
    named: address === undefined ? "KESC_GRPC_ADDRESS" : "--address",
  });
}

/**
 * The server at an address. Throws an OperatorError if a key would cross a network without TLS, or
 * if the files of TLS cannot be used.
 */
export function serverAt(
  address: string,
  { named, clientTls, isInsecure }: Pick<Config, "clientTls" | "isInsecure"> & { readonly named: string },
): CalledServer {
  const exposure = clientExposure(named, address, { clientTls, isInsecure });
  if (exposure !== undefined) throw new UsageError(exposure);
  const credentials = usableCredentials(address, clientTls);
  return { address, connect: () => connectTo(address, credentials) };
}

export function connectTo(address: string, credentials: ChannelCredentials): Client {
  return new Client(address, credentials, {
    ...serverNameFor(address),
    // A restarted server is found within a second. With the defaults that takes up to two minutes.
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
  });
}
