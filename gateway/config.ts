import { availableParallelism } from "node:os";

import { gatewayExposure } from "../runtime/transport/exposure.js";
import { clientTlsFilesOf, serverTlsFilesOf, type TlsFiles } from "../runtime/transport/tls.js";
import { type Environment, readVariables } from "../runtime/variables.js";
import type { LogLevel } from "../runtime/variables/declarations.js";
import type { HostAndPort } from "../runtime/variables/forms.js";

/** The part of the environment that the gateway reads, parsed. */
export interface GatewayConfig {
  readonly listen: HostAndPort;
  /** Where the metrics are served; undefined: the gateway counts nothing. */
  readonly adminAddress: HostAndPort | undefined;
  /** A gRPC target: "host:port" or "unix:path". */
  readonly target: string;
  /** Undefined: as fits the memory of the machine. */
  readonly heapGrowthPercent: number | undefined;
  readonly logLevel: LogLevel;
  readonly bodyBytesMax: number;
  /** Maximum size of a body that holds many requests. */
  readonly bulkBytesMax: number;
  readonly connectionsMax: number;
  /** The most requests at a time, and of one caller half of it. */
  readonly requestsMax: number;
  /** The most streams at a time, and of one caller half of it. */
  readonly streamsMax: number;
  /** The deadline of each call, and the most that a caller may ask for with Grpc-Timeout. */
  readonly callSecondsMax: number;
  readonly shutdownGraceSeconds: number;
  /** What clients put before each path; empty: they reach the gateway's own root. */
  readonly publicUrl: string;
  /** Whether /docs is served. */
  readonly hasDocs: boolean;
  /** The number of threads that serve. */
  readonly processes: number;
  /** Undefined: the gateway speaks no TLS. */
  readonly tls: TlsFiles | undefined;
  /** Undefined: the gateway calls the server without TLS. */
  readonly clientTls: TlsFiles | undefined;
}

/** The configuration, or one sentence for each wrong variable. */
export type ConfigResult =
  { readonly ok: true; readonly config: GatewayConfig } | { readonly ok: false; readonly problems: readonly string[] };

/** `isBesideServer`: the gateway runs in the process of the server. */
export function readConfig(environment: Environment, { isBesideServer = false } = {}): ConfigResult {
  const result = readVariables(environment);
  if (!result.ok) return result;
  const { values } = result;
  const problems = gatewayExposure(values, { isBesideServer });
  if (problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    config: {
      listen: values.KESC_HTTP_ADDRESS,
      adminAddress: values.KESC_HTTP_ADMIN_ADDRESS,
      target: values.KESC_GATEWAY_TARGET ?? values.KESC_GRPC_ADDRESS,
      heapGrowthPercent: values.KESC_HEAP_GROWTH_PERCENT,
      logLevel: values.KESC_LOG_LEVEL,
      bodyBytesMax: values.KESC_HTTP_BODY_BYTES_MAX,
      bulkBytesMax: values.KESC_BULK_BYTES_MAX,
      connectionsMax: values.KESC_HTTP_CONNECTIONS_MAX,
      requestsMax: values.KESC_HTTP_REQUESTS_MAX,
      streamsMax: values.KESC_HTTP_STREAMS_MAX,
      callSecondsMax: values.KESC_CALL_SECONDS_MAX,
      shutdownGraceSeconds: values.KESC_SHUTDOWN_GRACE_SECONDS,
      publicUrl: values.KESC_PUBLIC_URL,
      hasDocs: values.KESC_DOCS,
      // A server needs the other cores.
      processes:
        values.KESC_GATEWAY_PROCESSES ?? (isBesideServer ? 1 : Math.max(1, Math.floor(availableParallelism() / 2))),
      // Clients of the gateway have keys. Its CA of client certificates is that of the gRPC server.
      tls: withoutCa(serverTlsFilesOf(values)),
      clientTls: clientTlsFilesOf(values),
    },
  };
}

function withoutCa(files: TlsFiles | undefined): TlsFiles | undefined {
  return files === undefined ? undefined : { certificate: files.certificate, key: files.key };
}
