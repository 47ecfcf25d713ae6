import type { UnixMillis } from "../../domain/values/time.js";
import type { Cell } from "../database.js";
import type { Reader } from "../sql/reader.js";

/** A cell from which one can only read. */
export type DiagnosedCell = Pick<Cell, "number" | "engine" | "directory" | "masterKeys"> & {
  readonly reader: Pick<Reader, "rows">;
};

/** A setting that decides whether a commit survives a power cut. */
export interface DurabilitySetting {
  readonly name: string;
  readonly value: string;
  readonly isSafe: boolean;
}

/** The role of PostgreSQL with which this program is connected. */
export interface DatabaseRole {
  readonly name: string;
  /** Why it could change the journal or the tables. */
  readonly powers: readonly string[];
  /** The rights that a server needs and that it lacks, such as "INSERT on public.journal". */
  readonly missingRights: readonly string[];
}

/** The archive of PostgreSQL's write-ahead log, from which a database is restored. */
export interface LogArchive {
  readonly isOn: boolean;
  readonly archivedAt: UnixMillis | undefined;
  /** When archiving failed last, if that was after `archivedAt`. */
  readonly failedAt: UnixMillis | undefined;
}

/** What a database tells about itself. Nothing of it was changed. */
export interface Diagnosed {
  readonly cells: readonly [DiagnosedCell, ...DiagnosedCell[]];
  readonly durability: readonly DurabilitySetting[];
  /** How far this machine's clock is ahead of the database's; undefined if they share one. */
  readonly clockAheadMillis: number | undefined;
  /** Undefined on SQLite. */
  readonly role: DatabaseRole | undefined;
  /** Undefined on SQLite. */
  readonly archive: LogArchive | undefined;
}
