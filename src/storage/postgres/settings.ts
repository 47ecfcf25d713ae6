/** The settings of a session that decide whether it may serve. */
const SETTINGS = [
  "fsync",
  "full_page_writes",
  "transaction_read_only",
  "server_encoding",
  "session_replication_role",
] as const;

/** A server that only speaks the PostgreSQL protocol may lack a setting. Its value is then null. */
export type SessionSettings = Readonly<Record<(typeof SETTINGS)[number], string | null>>;

/** The expressions of a SELECT that returns `Settings`. */
export const SETTINGS_SQL = SETTINGS.map((name) => `current_setting('${name}', true) AS ${name}`).join(", ");

// Without them a commit may not survive a power cut. Each transaction sets a third one,
// synchronous_commit, by itself.
const DURABLE_BY = ["fsync", "full_page_writes"] as const;

/**
 * Throws if commits would fail or would not be durable, or if texts could not be stored. With
 * `onlyReads` nobody commits, so that a hot standby serves as well.
 */
export function refuseUnsafe(
  found: SessionSettings,
  { onlyReads = false }: { readonly onlyReads?: boolean | undefined } = {},
): void {
  for (const name of DURABLE_BY) {
    if (found[name] === "off") {
      throw new Error(`the PostgreSQL setting ${name} is off, so commits would not be durable. Turn it on`);
    }
  }
  const role = found.session_replication_role ?? "origin";
  if (role !== "origin") {
    throw new Error(
      `the PostgreSQL setting session_replication_role is ${role}, so no trigger guards the journal. Remove it: ` +
        "ALTER DATABASE … RESET session_replication_role, and the same for the role",
    );
  }
  // The reads of a server would be wrong, too: a standby may lag behind the commits of its primary.
  if (found.transaction_read_only === "on" && !onlyReads) {
    throw new Error("this PostgreSQL server is read-only; it may be a standby");
  }
  const encoding = found.server_encoding ?? "UTF8";
  if (encoding !== "UTF8") {
    throw new Error(
      `the encoding of the database is ${encoding}, but it must be UTF8. ` +
        "Create another one: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
    );
  }
}
