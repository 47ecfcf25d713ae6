import { clientTlsFilesOf, serverTlsFilesOf, type TlsFiles } from "../../runtime/transport/tls.js";
import { consoleOriginOf, type Environment, readVariables, type Values } from "../../runtime/variables.js";
import type { LogLevel } from "../../runtime/variables/declarations.js";
import type { HostAndPort } from "../../runtime/variables/forms.js";
import { type Parsed, parsed, unparsed } from "../domain/values/parsed.js";
import type { GrpcLimits } from "../grpc/limits.js";
import { ALL_GROUPS, type FourEyes, parseFourEyes } from "../operators/four-eyes.js";
import type { DatabaseAddress } from "../storage/database.js";
import { AllowedHosts } from "../webhooks/allowed.js";
import { callbackProblems, type CallbackSettings, callbackSettingsOf } from "./callbacks.js";

/** The part of the environment that the server and the commands read, parsed. */
export interface Config {
  readonly database: DatabaseAddress;
  /** "host:port" or "unix:path". Port 0 lets the machine choose. */
  readonly grpcAddress: string;
  /** Where the metrics are served; undefined: the server counts nothing. */
  readonly adminAddress: HostAndPort | undefined;
  /** Where operators call; undefined: the AdminService is off. "host:port" or "unix:path". */
  readonly operatorAddress: string | undefined;
  /** The AdminService that commands call; undefined: they work in the database. */
  readonly operatorServer: string | undefined;
  /** The origin of the console, at which people sign in: "https://console.example.com". */
  readonly consoleOrigin: string;
  /** The acts of operators that need a second person. */
  readonly fourEyes: FourEyes;
  /** Where the gateway finds the server; undefined for the server on the same machine. */
  readonly gatewayTarget: string | undefined;
  /** The most commands in one commit. */
  readonly batchMax: number;
  /** The most commands that may wait for a commit. */
  readonly queueMax: number;
  /** Nothing is paid out to a phone number that was changed less than this time ago. */
  readonly phoneCoolingMillis: number;
  /** Nothing is paid out to a destination that was made less than this time ago. */
  readonly destinationCoolingMillis: number;
  /** What the payer of a deposit typed is removed after this time. */
  readonly payerMillis: number;
  /** Where rails call back; undefined: no rail that needs it can be used. */
  readonly callbacks: CallbackSettings | undefined;
  /** Where live accounts at rails may be, beside the rails' own hosts: "host" or "host:port". */
  readonly railHosts: readonly string[];
  /** The key that seals the books, and how the seals name this service. */
  readonly seals: { readonly keyFile: string; readonly origin: string };
  /** The hosts to which webhooks may go, whatever their addresses. */
  readonly webhookHosts: AllowedHosts;
  readonly shutdownGraceSeconds: number;
  /** Undefined: as fits the memory of the machine. */
  readonly heapGrowthPercent: number | undefined;
  readonly logLevel: LogLevel;
  readonly grpcLimits: GrpcLimits;
  /** Undefined: the server speaks no TLS. A Unix socket never does. */
  readonly tls: TlsFiles | undefined;
  /** The files of a client of the server; undefined: it calls without TLS. */
  readonly clientTls: TlsFiles | undefined;
  /** Whether addresses beyond the loopback need no TLS. */
  readonly isInsecure: boolean;
}

// A client library may keep a health watch on each of its connections. A watch takes some 15 KB.
const OPEN_CALLS_MAX = 10_000;
// A callback waits for one commit. With 256 at a time rails get thousands stored in a second.
const PUBLIC_CALLS_MAX = 256;

/** The configuration, or one sentence for each wrong variable. */
export type ConfigResult =
  { readonly ok: true; readonly config: Config } | { readonly ok: false; readonly problems: readonly string[] };

export function readConfig(environment: Environment): ConfigResult {
  const result = readVariables(environment);
  if (!result.ok) return result;
  const problems = callbackProblems(result.values);
  const hosts = webhookHostsOf(result.values);
  if (!hosts.ok) return { ok: false, problems: [...problems, hosts.problem] };
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, config: { ...configOf(result.values), webhookHosts: hosts.value } };
}

/** The entries are separated by commas. */
function webhookHostsOf({ KESC_WEBHOOKS_ALLOW: text = "" }: Values): Parsed<AllowedHosts> {
  const entries = text.split(",").map((entry) => entry.trim());
  try {
    return parsed(new AllowedHosts(entries.filter((entry) => entry !== "")));
  } catch (error) {
    return unparsed(`KESC_WEBHOOKS_ALLOW ${error instanceof Error ? error.message : ""}.`);
  }
}

function configOf(values: Values): Omit<Config, "webhookHosts"> {
  return {
    database: databaseAddressOf(values),
    grpcAddress: values.KESC_GRPC_ADDRESS,
    adminAddress: values.KESC_ADMIN_ADDRESS,
    operatorAddress: values.KESC_OPERATOR_ADDRESS,
    operatorServer: values.KESC_OPERATOR_SERVER,
    consoleOrigin: consoleOriginOf(values),
    fourEyes: parseFourEyes(values.KESC_FOUR_EYES) ?? ALL_GROUPS,
    gatewayTarget: values.KESC_GATEWAY_TARGET,
    batchMax: values.KESC_BATCH_MAX,
    queueMax: values.KESC_QUEUE_MAX,
    phoneCoolingMillis: values.KESC_PHONE_COOLING_HOURS * 3_600_000,
    destinationCoolingMillis: values.KESC_DESTINATION_COOLING_HOURS * 3_600_000,
    payerMillis: values.KESC_PAYER_DAYS * 86_400_000,
    callbacks: callbackSettingsOf(values),
    railHosts: values.KESC_RAIL_HOSTS?.split(",") ?? [],
    seals: { keyFile: values.KESC_SEAL_KEY_FILE, origin: values.KESC_SEAL_ORIGIN },
    shutdownGraceSeconds: values.KESC_SHUTDOWN_GRACE_SECONDS,
    heapGrowthPercent: values.KESC_HEAP_GROWTH_PERCENT,
    logLevel: values.KESC_LOG_LEVEL,
    tls: serverTlsFilesOf(values),
    clientTls: clientTlsFilesOf(values),
    isInsecure: values.KESC_INSECURE,
    grpcLimits: {
      requestBytesMax: values.KESC_GRPC_REQUEST_BYTES_MAX,
      bulkBytesMax: values.KESC_BULK_BYTES_MAX,
      requestMillisMax: values.KESC_GRPC_REQUEST_SECONDS_MAX * 1_000,
      callMillisMax: values.KESC_CALL_SECONDS_MAX * 1_000,
      concurrentCallsMax: values.KESC_GRPC_CONCURRENT_CALLS_MAX,
      callsMax: values.KESC_GRPC_CALLS_MAX,
      openCallsMax: OPEN_CALLS_MAX,
      publicCallsMax: PUBLIC_CALLS_MAX,
      callsPerSecond: values.KESC_RATE_CALLS_PER_SECOND,
      listsPerSecond: values.KESC_RATE_LISTS_PER_SECOND,
      rateBurstSeconds: values.KESC_RATE_BURST_SECONDS,
      keepaliveMillis: values.KESC_GRPC_KEEPALIVE_SECONDS * 1_000,
      keepaliveTimeoutMillis: values.KESC_GRPC_KEEPALIVE_TIMEOUT_SECONDS * 1_000,
      connectionIdleMillisMax: values.KESC_GRPC_CONNECTION_IDLE_SECONDS_MAX * 1_000,
      connectionAgeMillisMax: values.KESC_GRPC_CONNECTION_AGE_SECONDS_MAX * 1_000,
      connectionAgeGraceMillis: values.KESC_GRPC_CONNECTION_AGE_GRACE_SECONDS * 1_000,
      lameDuckMillis: values.KESC_GRPC_LAME_DUCK_SECONDS * 1_000,
    },
  };
}

function databaseAddressOf({
  DATABASE_URL: url,
  KESC_DATABASE_CONNECTIONS_MAX: connectionsMax,
  KESC_MASTER_KEY_FILE: masterKeyFile,
}: Values): DatabaseAddress {
  return url.startsWith("sqlite:")
    ? { engine: "sqlite", filename: url.slice("sqlite:".length), masterKeyFile }
    : { engine: "postgres", url, connectionsMax, masterKeyFile };
}
