import { z } from "zod";

import type { GrpcLimits } from "../grpc/limits.js";
import type { DatabaseAddress } from "../storage/database.js";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The parsed environment. */
export interface Config {
  readonly database: DatabaseAddress;
  /** "host:port" or "unix:path". With port 0 the operating system chooses a free port. */
  readonly grpcAddress: string;
  /** "host:port". */
  readonly httpAddress: string;
  /**
   * The address of the server for the gateway. Undefined if the server of this machine should be
   * used.
   */
  readonly gatewayTarget: string | undefined;
  /** Maximum number of commands in one commit. */
  readonly batchMax: number;
  /** Maximum number of commands in the queue. */
  readonly queueMax: number;
  readonly shutdownGraceSeconds: number;
  readonly logLevel: LogLevel;
  readonly grpcLimits: GrpcLimits;
}

/** One variable of the environment. */
interface Variable<Schema extends z.ZodType> {
  /**
   * The default, as a user would write it. Undefined if the default depends on something else: see
   * `meaning`.
   */
  readonly fallback: string | undefined;
  readonly meaning: string;
  readonly schema: Schema;
  /** Whether messages must not repeat the value. */
  readonly secret?: true;
}

const HOST_AND_PORT = /^(?:\[[0-9a-fA-F:.]+\]|[^:\s[\]/]+):([0-9]{1,5})$/;
const PORT_MAX = 65_535;

function isHostAndPort(text: string): boolean {
  const port = HOST_AND_PORT.exec(text)?.[1];
  return port !== undefined && Number(port) <= PORT_MAX;
}

function wholeNumber(min: number, max: number) {
  const problem = `must be a whole number from ${String(min)} to ${String(max)}`;
  return z
    .string()
    .regex(/^[0-9]{1,15}$/, { error: problem, abort: true })
    .transform(Number)
    .refine((count) => count >= min && count <= max, problem);
}

function seconds(min: number, max: number) {
  return wholeNumber(min, max).transform((count) => count * 1_000);
}

const hostAndPort = z.string().refine(isHostAndPort, "must be host:port, such as 127.0.0.1:8080");
const hostAndPortOrSocket = z
  .string()
  .refine(
    (text) => /^unix:./.test(text) || isHostAndPort(text),
    "must be host:port or unix:/path, such as 127.0.0.1:50051",
  );
const databaseUrl = z
  .string()
  .refine(
    (text) =>
      (/^sqlite:./.test(text) && text !== "sqlite::memory:") ||
      (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)),
    "must be sqlite:PATH, such as sqlite:./data/kesc.db, or postgres://USER:PASSWORD@HOST:PORT/DATABASE",
  );

function variable<Schema extends z.ZodType>(fallback: string, meaning: string, schema: Schema): Variable<Schema> {
  return { fallback, meaning, schema };
}

/** All variables. `kesc help` and the README show them. */
export const VARIABLES = {
  DATABASE_URL: {
    ...variable("sqlite:./data/kesc.db", "sqlite:PATH, or the postgres:// URL of a server", databaseUrl),
    secret: true,
  },
  KESC_DATABASE_CONNECTIONS_MAX: variable(
    "10",
    "maximum connections of one server to PostgreSQL",
    wholeNumber(1, 1_000),
  ),
  KESC_GRPC_ADDRESS: variable(
    "127.0.0.1:50051",
    "address of the gRPC server: host:port or unix:/path",
    hostAndPortOrSocket,
  ),
  KESC_HTTP_ADDRESS: variable("127.0.0.1:8080", "address of the REST gateway: host:port", hostAndPort),
  KESC_GATEWAY_TARGET: {
    fallback: undefined,
    meaning: "server that the gateway calls; default: KESC_GRPC_ADDRESS",
    schema: hostAndPortOrSocket.optional(),
  },
  KESC_GATEWAY_PROCESSES: {
    fallback: undefined,
    meaning: "processes that serve REST; default: half of the cores",
    schema: wholeNumber(1, 256).optional(),
  },
  KESC_BATCH_MAX: variable("256", "maximum commands in one commit", wholeNumber(1, 10_000)),
  KESC_QUEUE_MAX: variable(
    "10000",
    "maximum queued commands; half of it for one organization",
    wholeNumber(1, 1_000_000),
  ),
  KESC_CALL_SECONDS_MAX: variable("30", "maximum seconds of a call", seconds(1, 3_600)),
  KESC_SHUTDOWN_GRACE_SECONDS: variable(
    "20",
    "seconds to finish the calls in flight at shutdown",
    wholeNumber(1, 3_600),
  ),
  KESC_LOG_LEVEL: variable(
    "info",
    `log level: ${LOG_LEVELS.join(", ")}`,
    z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`),
  ),
  KESC_HTTP_BODY_BYTES_MAX: variable("262144", "maximum bytes of a REST body", wholeNumber(1_024, 16_777_216)),
  KESC_HTTP_CONNECTIONS_MAX: variable("20000", "maximum connections to the gateway", wholeNumber(1, 1_000_000)),
  KESC_HTTP_REQUESTS_MAX: variable(
    "2000",
    "maximum REST requests in flight; half of it for one key",
    wholeNumber(1, 100_000),
  ),
  KESC_GRPC_REQUEST_BYTES_MAX: variable("262144", "maximum bytes of a gRPC request", wholeNumber(1_024, 16_777_216)),
  KESC_BULK_BYTES_MAX: variable(
    "1048576",
    "maximum bytes of a batch, over REST or gRPC",
    wholeNumber(1_024, 16_777_216),
  ),
  KESC_GRPC_REQUEST_SECONDS_MAX: variable("10", "maximum seconds for a gRPC request to arrive", seconds(1, 3_600)),
  KESC_GRPC_CONCURRENT_CALLS_MAX: variable(
    "1000",
    "maximum calls in flight on one connection",
    wholeNumber(1, 100_000),
  ),
  KESC_GRPC_CALLS_MAX: variable(
    "50000",
    "maximum gRPC calls in flight; half of it for one key",
    wholeNumber(1, 1_000_000),
  ),
  KESC_GRPC_KEEPALIVE_SECONDS: variable("60", "seconds without data until a connection is pinged", seconds(1, 86_400)),
  KESC_GRPC_KEEPALIVE_TIMEOUT_SECONDS: variable("10", "seconds to wait for the response to a ping", seconds(1, 3_600)),
  KESC_GRPC_CONNECTION_IDLE_SECONDS_MAX: variable(
    "300",
    "seconds without a call until a connection is closed",
    seconds(1, 86_400),
  ),
  KESC_GRPC_CONNECTION_AGE_SECONDS_MAX: variable(
    "1800",
    "seconds until a connection is asked to close",
    seconds(1, 86_400),
  ),
  KESC_GRPC_CONNECTION_AGE_GRACE_SECONDS: variable(
    "60",
    "seconds from then until the connection is closed",
    seconds(1, 3_600),
  ),
  KESC_GRPC_LAME_DUCK_SECONDS: variable(
    "0",
    "seconds of NOT_SERVING before calls are refused at shutdown",
    seconds(0, 600),
  ),
} as const satisfies Record<string, Variable<z.ZodType>>;

export type VariableName = keyof typeof VARIABLES;
type Schemas = { readonly [Name in VariableName]: (typeof VARIABLES)[Name]["schema"] };

const ENTRIES = Object.entries(VARIABLES) as [VariableName, Variable<z.ZodType>][];
const ENVIRONMENT = z.object(Object.fromEntries(ENTRIES.map(([name, { schema }]) => [name, schema])) as Schemas);

// Only clients use this variable, for example `kesc import`. A server ignores it.
const OF_CALLERS = "KESC_API_KEY";

/** The configuration, or one sentence for each invalid variable. */
export type ConfigResult =
  { readonly ok: true; readonly config: Config } | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Reads the environment. An empty variable counts as unset. An unknown variable with our prefix is
 * an error.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): ConfigResult {
  const texts = ENTRIES.map(([name, { fallback }]) => [
    name,
    environment[name] === "" ? fallback : (environment[name] ?? fallback),
  ]);
  const result = ENVIRONMENT.safeParse(Object.fromEntries(texts));
  const problems = [
    ...(result.error?.issues ?? []).map((issue) => describeIssue(issue, environment)),
    ...Object.keys(environment).filter(isUnknown).map(describeUnknown),
  ];
  return result.success && problems.length === 0
    ? { ok: true, config: configOf(result.data) }
    : { ok: false, problems };
}

function configOf(values: z.output<typeof ENVIRONMENT>): Config {
  return {
    database: databaseAddressOf(values.DATABASE_URL, values.KESC_DATABASE_CONNECTIONS_MAX),
    grpcAddress: values.KESC_GRPC_ADDRESS,
    httpAddress: values.KESC_HTTP_ADDRESS,
    gatewayTarget: values.KESC_GATEWAY_TARGET,
    batchMax: values.KESC_BATCH_MAX,
    queueMax: values.KESC_QUEUE_MAX,
    shutdownGraceSeconds: values.KESC_SHUTDOWN_GRACE_SECONDS,
    logLevel: values.KESC_LOG_LEVEL,
    grpcLimits: {
      requestBytesMax: values.KESC_GRPC_REQUEST_BYTES_MAX,
      bulkBytesMax: values.KESC_BULK_BYTES_MAX,
      requestMillisMax: values.KESC_GRPC_REQUEST_SECONDS_MAX,
      callMillisMax: values.KESC_CALL_SECONDS_MAX,
      concurrentCallsMax: values.KESC_GRPC_CONCURRENT_CALLS_MAX,
      callsMax: values.KESC_GRPC_CALLS_MAX,
      keepaliveMillis: values.KESC_GRPC_KEEPALIVE_SECONDS,
      keepaliveTimeoutMillis: values.KESC_GRPC_KEEPALIVE_TIMEOUT_SECONDS,
      connectionIdleMillisMax: values.KESC_GRPC_CONNECTION_IDLE_SECONDS_MAX,
      connectionAgeMillisMax: values.KESC_GRPC_CONNECTION_AGE_SECONDS_MAX,
      connectionAgeGraceMillis: values.KESC_GRPC_CONNECTION_AGE_GRACE_SECONDS,
      lameDuckMillis: values.KESC_GRPC_LAME_DUCK_SECONDS,
    },
  };
}

function databaseAddressOf(url: string, connectionsMax: number): DatabaseAddress {
  return url.startsWith("sqlite:")
    ? { engine: "sqlite", filename: url.slice("sqlite:".length) }
    : { engine: "postgres", url, connectionsMax };
}

function describeIssue(issue: z.core.$ZodIssue, environment: Readonly<Record<string, string | undefined>>): string {
  const name = String(issue.path[0]) as VariableName;
  const secret = "secret" in VARIABLES[name];
  return `${name} ${issue.message}${secret ? "" : `; it is "${environment[name] ?? ""}"`}.`;
}

function isUnknown(name: string): boolean {
  return name.startsWith("KESC_") && name !== OF_CALLERS && !Object.hasOwn(VARIABLES, name);
}

// A name with more differences than this is not a misspelling.
const SLIPS_MAX = 4;

function describeUnknown(name: string): string {
  const [nearest] = ENTRIES.map(([known]) => ({ known, slips: editDistance(name, known) })).toSorted(
    (left, right) => left.slips - right.slips,
  );
  const advice =
    nearest !== undefined && nearest.slips <= SLIPS_MAX
      ? `Did you mean ${nearest.known}?`
      : "Unset it, or run 'kesc help' for a list of the variables.";
  return `Unknown variable ${name}. ${advice}`;
}

/**
 * Returns the number of letters to insert, delete or replace to turn one word into the other
 * (Levenshtein).
 */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let index = 0; index < from.length; index += 1) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (from[index] === to[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
