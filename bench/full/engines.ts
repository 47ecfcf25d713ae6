import type { Options } from "../options.js";
import { createDatabase } from "./postgres.js";

/** A database engine that a part measures. */
export interface Engine {
  name: "sqlite" | "postgres";
  /** Returns the URL of a new database. Undefined on SQLite: a service makes its own file. */
  newDatabase: (purpose: string) => Promise<string | undefined>;
}

/** SQLite, and PostgreSQL if its URL is in POSTGRES_URL. `--engine` chooses one of them. */
export function enginesOf({ engine }: Pick<Options, "engine">): Engine[] {
  const url = process.env["POSTGRES_URL"];
  const engines: Engine[] = [{ name: "sqlite", newDatabase: () => Promise.resolve(undefined) }];
  if (url !== undefined) engines.push({ name: "postgres", newDatabase: (purpose) => createDatabase(url, purpose) });
  return engines.filter(({ name }) => engine === "" || engine === name);
}
