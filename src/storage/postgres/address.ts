import pg from "pg";

/** How long PostgreSQL may take, in milliseconds. 0 means no limit. */
export interface ConnectionLimits {
  readonly statementMillis: number;
  /** Between two statements of one transaction. */
  readonly idleMillis: number;
  /** As this side of the connection measures it, with the time on the network. */
  readonly queryMillis: number;
}

/** Values by the names of the settings of PostgreSQL. */
export type Settings = Readonly<Record<string, string>>;

const NAMES = ["statement_timeout", "idle_in_transaction_session_timeout", "query_timeout"] as const;
const UNLIMITED: ConnectionLimits = { statementMillis: 0, idleMillis: 0, queryMillis: 0 };
const NETWORK_MILLIS_MAX = 3_000;
const MIGRATION_LOCK_MILLIS_MAX = 3_000;

/**
 * Returns the limits in the URL. For those that it lacks, returns the limits that follow from
 * `statementMillisMax`. Returns no limits if that is 0: the limits in the URL are for the calls of
 * a server.
 */
export function limitsOf(url: string, statementMillisMax: number): ConnectionLimits {
  if (statementMillisMax === 0) return UNLIMITED;
  const given = parametersOf(url);
  const limit = (name: (typeof NAMES)[number], otherwise: number): number => {
    const text = given.get(name) ?? "";
    return /^[0-9]{1,9}$/.test(text) ? Number(text) : otherwise;
  };
  return {
    statementMillis: limit("statement_timeout", statementMillisMax),
    // If the network breaks inside a transaction, the server would otherwise keep its locks until
    // it notices.
    idleMillis: limit("idle_in_transaction_session_timeout", statementMillisMax),
    // The limit of the server fires first. This limit covers a server that no longer responds.
    queryMillis: limit("query_timeout", statementMillisMax + NETWORK_MILLIS_MAX),
  };
}

/**
 * Returns what a role, a database or an earlier client of PgBouncer may have set otherwise
 * (docs/adr/0024).
 */
export function settingsOf({ statementMillis, idleMillis }: ConnectionLimits): Settings {
  return {
    synchronous_commit: "on",
    statement_timeout: String(statementMillis),
    idle_in_transaction_session_timeout: String(idleMillis),
  };
}

/** Returns statements that set them until the end of the transaction. */
export function localSettings(limits: ConnectionLimits): string {
  return Object.entries(settingsOf(limits))
    .map(([name, value]) => `SET LOCAL ${name} = ${value}`)
    .join("; ");
}

/**
 * Returns `localSettings` for a migration, which waits for no lock for long: every statement of the
 * servers waits behind it.
 */
export function migrationSettings(limits: ConnectionLimits): string {
  return `${localSettings(limits)}; SET LOCAL lock_timeout = ${String(MIGRATION_LOCK_MILLIS_MAX)}`;
}

/** Removes the limits from the URL. The driver would prefer them to those that it is given. */
export function withoutLimits(url: string): string {
  const parameters = parametersOf(url);
  for (const name of NAMES) parameters.delete(name);
  return parameters.size === 0 ? beforeParameters(url) : `${beforeParameters(url)}?${parameters.toString()}`;
}

/**
 * Returns the name of the database and its server, for messages. Omits the user and the password. A
 * host that begins with a slash is the folder of a Unix socket.
 */
export function describePostgres(url: string): string {
  // The driver knows all forms of such a URL. It does not connect yet.
  const { database = "", host, port } = new pg.Client(url);
  return `${database} at ${host.startsWith("/") ? `${host}/.s.PGSQL.` : `${host}:`}${String(port)}`;
}

// URL cannot parse postgres://user@/name?host=/folder.
function parametersOf(url: string): URLSearchParams {
  return new URLSearchParams(url.slice(beforeParameters(url).length));
}

function beforeParameters(url: string): string {
  return url.split("?", 1)[0] ?? url;
}
