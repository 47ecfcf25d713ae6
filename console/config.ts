import { consoleExposure } from "../runtime/transport/exposure.js";
import { clientTlsFilesOf, serverTlsFilesOf, type TlsFiles } from "../runtime/transport/tls.js";
import { consoleOriginOf, type Environment, readVariables } from "../runtime/variables.js";
import type { LogLevel } from "../runtime/variables/declarations.js";
import type { HostAndPort } from "../runtime/variables/forms.js";

/** The part of the environment that the console reads, parsed. */
export interface ConsoleConfig {
  readonly listen: HostAndPort;
  /** The scheme, the name and the port by which browsers reach the console. */
  readonly origin: string;
  /** The operators' address: "host:port" or "unix:path". */
  readonly target: string;
  readonly logLevel: LogLevel;
  readonly shutdownGraceSeconds: number;
  /** Undefined: the console speaks no TLS. */
  readonly tls: TlsFiles | undefined;
  /** Undefined: the console calls the server without TLS. */
  readonly clientTls: TlsFiles | undefined;
}

/** The configuration, or one sentence for each wrong variable. */
type ConfigResult =
  { readonly ok: true; readonly config: ConsoleConfig } | { readonly ok: false; readonly problems: readonly string[] };

export function readConfig(environment: Environment): ConfigResult {
  const result = readVariables(environment);
  if (!result.ok) return result;
  const { values } = result;
  const target = values.KESC_CONSOLE_TARGET ?? values.KESC_OPERATOR_ADDRESS;
  const problems = [
    ...(target === undefined
      ? ["KESC_CONSOLE_TARGET is not set. Set it, or KESC_OPERATOR_ADDRESS, to the operators' address of the server."]
      : []),
    ...consoleExposure(values),
  ];
  if (target === undefined || problems.length > 0) return { ok: false, problems };
  const tls = serverTlsFilesOf(values);
  return {
    ok: true,
    config: {
      listen: values.KESC_CONSOLE_ADDRESS,
      origin: consoleOriginOf(values),
      target,
      logLevel: values.KESC_LOG_LEVEL,
      shutdownGraceSeconds: values.KESC_SHUTDOWN_GRACE_SECONDS,
      // A browser shows no certificate: people sign in.
      tls: tls === undefined ? undefined : { certificate: tls.certificate, key: tls.key },
      clientTls: clientTlsFilesOf(values),
    },
  };
}
