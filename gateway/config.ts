import { availableParallelism } from "node:os";

import { z } from "zod";

/** Where the gateway listens. Port 0 lets the machine choose. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface GatewayConfig {
  readonly listen: ListenAddress;
  /** A gRPC target: "host:port" or "unix:path". */
  readonly target: string;
  readonly logLevel: LogLevel;
  readonly bodyBytesMax: number;
  /** The same for a body that holds many requests. */
  readonly bulkBytesMax: number;
  readonly connectionsMax: number;
  /** The most requests at a time, and of one caller half of it. */
  readonly requestsMax: number;
  /** The deadline of each call, and the most that a caller may ask for with Grpc-Timeout. */
  readonly callSecondsMax: number;
  readonly shutdownGraceSeconds: number;
  /** How many processes serve. */
  readonly processes: number;
}

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

const HOST_AND_PORT = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s[\]]+)):([0-9]{1,5})$/;
const PORT_MAX = 65_535;

function parseHostAndPort(text: string): ListenAddress | undefined {
  const match = HOST_AND_PORT.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host === undefined || port > PORT_MAX ? undefined : { host, port };
}

function isTarget(text: string): boolean {
  return /^unix:.+/.test(text) || parseHostAndPort(text) !== undefined;
}

function wholeNumber(min: number, max: number, fallback: number) {
  const problem = `must be a whole number from ${String(min)} to ${String(max)}`;
  return z
    .string()
    .regex(/^[0-9]{1,15}$/, problem)
    .transform(Number)
    .refine((count) => count >= min && count <= max, problem)
    .default(fallback);
}

const TARGET_PROBLEM = "must be host:port or unix:path, such as 127.0.0.1:50051";
const target = z.string().refine(isTarget, TARGET_PROBLEM);

const ENVIRONMENT = z.object({
  KESC_HTTP_ADDRESS: z
    .string()
    .transform((text, context) => {
      const address = parseHostAndPort(text);
      if (address === undefined) {
        context.addIssue({ code: "custom", message: "must be host:port, such as 127.0.0.1:8080" });
        return z.NEVER;
      }
      return address;
    })
    .default({ host: "127.0.0.1", port: 8080 }),
  KESC_GATEWAY_TARGET: target.optional(),
  KESC_GRPC_ADDRESS: target.default("127.0.0.1:50051"),
  KESC_LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`).default("info"),
  KESC_HTTP_BODY_BYTES_MAX: wholeNumber(1_024, 16_777_216, 262_144),
  KESC_BULK_BYTES_MAX: wholeNumber(1_024, 16_777_216, 1_048_576),
  KESC_HTTP_CONNECTIONS_MAX: wholeNumber(1, 1_000_000, 20_000),
  KESC_HTTP_REQUESTS_MAX: wholeNumber(1, 100_000, 2_000),
  KESC_CALL_SECONDS_MAX: wholeNumber(1, 3_600, 30),
  KESC_SHUTDOWN_GRACE_SECONDS: wholeNumber(0, 3_600, 20),
  // The other half of the machine is the server's.
  KESC_GATEWAY_PROCESSES: wholeNumber(1, 256, Math.max(1, Math.floor(availableParallelism() / 2))),
});

/** The configuration, or one sentence for every variable that is wrong. */
export type ConfigResult =
  { readonly ok: true; readonly config: GatewayConfig } | { readonly ok: false; readonly problems: readonly string[] };

/** Reads the environment once. A variable that is empty counts as not set. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): ConfigResult {
  const given = Object.fromEntries(Object.entries(environment).filter(([, text]) => text !== ""));
  const result = ENVIRONMENT.safeParse(given);
  if (!result.success) {
    return { ok: false, problems: result.error.issues.map((issue) => `${issue.path.join(".")} ${issue.message}.`) };
  }
  const variables = result.data;
  return {
    ok: true,
    config: {
      listen: variables.KESC_HTTP_ADDRESS,
      target: variables.KESC_GATEWAY_TARGET ?? variables.KESC_GRPC_ADDRESS,
      logLevel: variables.KESC_LOG_LEVEL,
      bodyBytesMax: variables.KESC_HTTP_BODY_BYTES_MAX,
      bulkBytesMax: variables.KESC_BULK_BYTES_MAX,
      connectionsMax: variables.KESC_HTTP_CONNECTIONS_MAX,
      requestsMax: variables.KESC_HTTP_REQUESTS_MAX,
      callSecondsMax: variables.KESC_CALL_SECONDS_MAX,
      shutdownGraceSeconds: variables.KESC_SHUTDOWN_GRACE_SECONDS,
      processes: variables.KESC_GATEWAY_PROCESSES,
    },
  };
}
