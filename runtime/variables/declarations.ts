import * as z from "zod";

import {
  baseUrl,
  databaseUrl,
  hostAndPort,
  hostAndPortOrSocket,
  optionalFile,
  passkeyOrigin,
  type Variable,
  variable,
  wholeNumber,
} from "./forms.js";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Variables by their names. */
export type Variables = Readonly<Record<string, Variable<z.ZodType>>>;

const FOUR_EYES_GROUPS = "operators,resume,write_keys,limits,rails,erase,unfreeze,reserve,payouts";
const FOUR_EYES_GROUP = `(${FOUR_EYES_GROUPS.replaceAll(",", "|")})`;
const FOUR_EYES = new RegExp(`^(none|${FOUR_EYES_GROUP}(,${FOUR_EYES_GROUP})*)$`);

const RAIL_HOSTS = /^[a-z0-9.-]+(:[0-9]{1,5})?(,[a-z0-9.-]+(:[0-9]{1,5})?)*$/;

const BASIC = {
  DATABASE_URL: {
    ...variable("sqlite:./data/kesc.db", "sqlite:PATH, or the postgres:// URL of a server", databaseUrl),
    secret: true,
  },
  KESC_MASTER_KEY_FILE: variable(
    "./keys/master.key",
    "file of the master keys; kesc migrate creates it",
    z.string().min(1, "must be the path of a file"),
  ),
  KESC_SEAL_KEY_FILE: variable(
    "./keys/seal.key",
    "file of the key that seals the books; without it none is sealed",
    z.string().min(1, "must be the path of a file"),
  ),
  KESC_GRPC_ADDRESS: variable(
    "127.0.0.1:50051",
    "address of the gRPC server: host:port or unix:/path",
    hostAndPortOrSocket,
  ),
  KESC_HTTP_ADDRESS: variable("127.0.0.1:8080", "address of the REST gateway: host:port", hostAndPort),
  KESC_TLS_CERT_FILE: optionalFile("certificate of both programs in PEM, with its chain; TLS is on"),
  KESC_TLS_KEY_FILE: optionalFile("private key of that certificate, in PEM"),
  KESC_CALLBACK_BASE_URL: {
    fallback: undefined,
    meaning: "URL of the gateway, at which rails call back; KESC_CALLBACK_SECRET_FILE comes with it",
    schema: z.string().optional(),
  },
} as const satisfies Variables;

const ADDRESSES = {
  KESC_ADMIN_ADDRESS: {
    fallback: undefined,
    meaning: "address of the server's metrics: host:port; default: off",
    schema: hostAndPort.optional(),
  },
  KESC_HTTP_ADMIN_ADDRESS: {
    fallback: undefined,
    meaning: "address of the gateway's metrics: host:port; default: off",
    schema: hostAndPort.optional(),
  },
  KESC_GATEWAY_TARGET: {
    fallback: undefined,
    meaning: "server that the gateway calls; default: KESC_GRPC_ADDRESS",
    schema: hostAndPortOrSocket.optional(),
  },
  KESC_CONSOLE_ADDRESS: variable("127.0.0.1:8081", "address of the operators' console: host:port", hostAndPort),
  KESC_CONSOLE_TARGET: {
    fallback: undefined,
    meaning: "operators' address that the console calls; default: KESC_OPERATOR_ADDRESS",
    schema: hostAndPortOrSocket.optional(),
  },
  KESC_PUBLIC_URL: variable("", "URL of the gateway's root for clients, if a proxy adds a path or a name", baseUrl),
  KESC_DOCS: variable(
    "true",
    "false: the gateway has no /docs",
    z.enum(["true", "false"], "must be true or false").transform((text) => text === "true"),
  ),
  KESC_INSECURE: variable(
    "false",
    "true: addresses beyond the loopback need no TLS",
    z.enum(["true", "false"], "must be true or false").transform((text) => text === "true"),
  ),
  KESC_TLS_CLIENT_CA_FILE: optionalFile("CA of client certificates; each gRPC client then needs one"),
  KESC_GATEWAY_CA_FILE: optionalFile("CA of the server's certificate; clients of the server use TLS"),
  KESC_GATEWAY_CERT_FILE: optionalFile("certificate of clients of the server, in PEM, with its chain"),
  KESC_GATEWAY_KEY_FILE: optionalFile("private key of that certificate, in PEM"),
} as const satisfies Variables;

const DATABASE = {
  DATABASE_URL_FILE: optionalFile("file that holds DATABASE_URL, in place of the variable"),
  KESC_DATABASE_CONNECTIONS_MAX: variable(
    "10",
    "maximum connections of one server to PostgreSQL",
    // One each for commits, reads and the health check.
    wholeNumber(3, 1_000),
  ),
  KESC_SEAL_ORIGIN: variable(
    "kesc",
    "names this service in its seals, such as kesc.example.com",
    z.string().regex(/^[A-Za-z0-9./-]{1,100}$/, "must be 1 to 100 letters, digits, dots, slashes or hyphens"),
  ),
  KESC_OPERATOR_ADDRESS: {
    fallback: undefined,
    meaning: "address of the AdminService, for operators: host:port or unix:/path; default: off",
    schema: hostAndPortOrSocket.optional(),
  },
  KESC_OPERATOR_SERVER: {
    fallback: undefined,
    meaning: "AdminService that kesc org, key, operator and proposal call; default: the database",
    schema: hostAndPortOrSocket.optional(),
  },
  KESC_CONSOLE_ORIGIN: {
    fallback: undefined,
    meaning: "URL of the operators' console, without a path; default: localhost, with the port of KESC_CONSOLE_ADDRESS",
    schema: passkeyOrigin.optional(),
  },
  KESC_FOUR_EYES: variable(
    FOUR_EYES_GROUPS,
    "acts of operators that need a second person, or none",
    z.string().regex(FOUR_EYES, `must be none, or some of ${FOUR_EYES_GROUPS}`),
  ),
  KESC_PHONE_COOLING_HOURS: variable(
    "24",
    "hours without payouts to a phone number that was changed",
    wholeNumber(0, 8_760),
  ),
  KESC_DESTINATION_COOLING_HOURS: variable("24", "hours without payouts to a new destination", wholeNumber(0, 8_760)),
} as const satisfies Variables;

const RAILS = {
  KESC_CALLBACK_SECRET_FILE: optionalFile("file of the secrets that sign callback addresses"),
  KESC_RAIL_HOSTS: {
    fallback: undefined,
    meaning: "hosts for live M-Pesa accounts beside Safaricom's: a proxy",
    schema: z
      .string()
      .regex(RAIL_HOSTS, "must be hosts such as proxy.example.com or 127.0.0.1:8090, with commas between")
      .optional(),
  },
  KESC_PAYER_DAYS: variable(
    "90",
    "days after which the text that the payer of a deposit typed is removed",
    wholeNumber(1, 3_650),
  ),
  KESC_WEBHOOKS_ALLOW: {
    fallback: undefined,
    meaning: "hosts and networks for webhooks beside public ones",
    schema: z.string().optional(),
  },
} as const satisfies Variables;

const LIMITS = {
  KESC_RATE_CALLS_PER_SECOND: variable(
    "1000",
    "calls a second of one key at one server; 0: no limit",
    wholeNumber(0, 1_000_000),
  ),
  KESC_RATE_LISTS_PER_SECOND: variable(
    "100",
    "lists and exports a second of one key; 0: no limit",
    wholeNumber(0, 1_000_000),
  ),
  KESC_RATE_BURST_SECONDS: variable("30", "seconds' worth of calls that a key can save up", wholeNumber(1, 3_600)),
  KESC_CALL_SECONDS_MAX: variable("30", "maximum seconds of a call", wholeNumber(1, 3_600)),
  KESC_QUEUE_MAX: variable(
    "10000",
    "maximum queued commands; half of it for one organization",
    wholeNumber(1, 1_000_000),
  ),
  KESC_BULK_BYTES_MAX: variable(
    "1048576",
    "maximum bytes of a batch, over REST or gRPC",
    wholeNumber(1_024, 16_777_216),
  ),
  KESC_HTTP_BODY_BYTES_MAX: variable("262144", "maximum bytes of a REST body", wholeNumber(1_024, 16_777_216)),
  KESC_HTTP_CONNECTIONS_MAX: variable("20000", "maximum connections to the gateway", wholeNumber(1, 1_000_000)),
  KESC_HTTP_REQUESTS_MAX: variable(
    "2000",
    "maximum REST requests in flight; half of it for one key",
    wholeNumber(1, 100_000),
  ),
  KESC_HTTP_STREAMS_MAX: variable(
    "1000",
    "maximum REST streams at a time; half of it for one key",
    wholeNumber(1, 100_000),
  ),
  KESC_GRPC_REQUEST_BYTES_MAX: variable("262144", "maximum bytes of a gRPC request", wholeNumber(1_024, 16_777_216)),
  KESC_GRPC_REQUEST_SECONDS_MAX: variable("10", "maximum seconds for a gRPC request to arrive", wholeNumber(1, 3_600)),
  // The gateway sends all its calls over one connection: with a lower limit they would queue in the
  // client while the server is idle.
  KESC_GRPC_CONCURRENT_CALLS_MAX: variable(
    "1000",
    "maximum calls in flight on one connection; gateways need 250",
    wholeNumber(1, 100_000),
  ),
  // A waiting call takes some 15 KB.
  KESC_GRPC_CALLS_MAX: variable(
    "50000",
    "maximum gRPC calls in flight; half for one organization",
    wholeNumber(1, 1_000_000),
  ),
} as const satisfies Variables;

const TUNING = {
  KESC_BATCH_MAX: variable("256", "maximum commands in one commit", wholeNumber(1, 10_000)),
  KESC_GATEWAY_PROCESSES: {
    fallback: undefined,
    meaning: "threads that serve REST; default: 1 of kesc serve, half of the cores of kesc gateway",
    schema: wholeNumber(1, 256).optional(),
  },
  KESC_HEAP_GROWTH_PERCENT: {
    fallback: undefined,
    meaning: "growth of the heap between full collections; 0: as V8 likes; default: 0, below 1 GiB of memory 25",
    schema: wholeNumber(0, 1_000).optional(),
  },
  KESC_LOG_LEVEL: variable(
    "info",
    `log level: ${LOG_LEVELS.join(", ")}`,
    z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`),
  ),
  KESC_SHUTDOWN_GRACE_SECONDS: variable(
    "20",
    "seconds to finish the calls in flight at shutdown",
    wholeNumber(1, 3_600),
  ),
  KESC_GRPC_LAME_DUCK_SECONDS: variable(
    "0",
    "seconds of NOT_SERVING before calls are refused at shutdown",
    wholeNumber(0, 600),
  ),
  KESC_GRPC_KEEPALIVE_SECONDS: variable(
    "60",
    "seconds without data until a connection is pinged",
    wholeNumber(1, 86_400),
  ),
  KESC_GRPC_KEEPALIVE_TIMEOUT_SECONDS: variable(
    "10",
    "seconds to wait for the response to a ping",
    wholeNumber(1, 3_600),
  ),
  KESC_GRPC_CONNECTION_IDLE_SECONDS_MAX: variable(
    "300",
    "seconds without a call until a connection is closed",
    wholeNumber(1, 86_400),
  ),
  KESC_GRPC_CONNECTION_AGE_SECONDS_MAX: variable(
    "1800",
    "seconds until a connection is asked to close",
    wholeNumber(1, 86_400),
  ),
  KESC_GRPC_CONNECTION_AGE_GRACE_SECONDS: variable(
    "60",
    "seconds from then until the connection is closed",
    wholeNumber(1, 3_600),
  ),
} as const satisfies Variables;

/**
 * All variables of both programs, by the headings of docs/configuration.md. No other place states a
 * default or a range. The README and `kesc help` show the first group.
 */
export const VARIABLE_GROUPS = {
  "The eight that you set": BASIC,
  "Addresses and TLS": ADDRESSES,
  "Database, seals and operators": DATABASE,
  "Rails and webhooks": RAILS,
  Limits: LIMITS,
  Tuning: TUNING,
} as const;

export const VARIABLES = {
  ...BASIC,
  ...ADDRESSES,
  ...DATABASE,
  ...RAILS,
  ...LIMITS,
  ...TUNING,
};
