import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type Backup, backUp, type SqliteAddress } from "../../../src/cli/backup/backup.js";
import { openTestDatabase, type TestDatabase } from "../../support/databases.js";
import { GivenBooks, makeTraffic } from "../../verify/given/books.js";

/** An SQLite database with two books, one of them with traffic, and a folder for its backups. */
export class GivenSource {
  readonly folder = mkdtempSync(join(tmpdir(), "kesc-backup-"));
  readonly opened: TestDatabase;
  readonly address: SqliteAddress;
  readonly books: GivenBooks;

  private constructor(opened: TestDatabase, books: GivenBooks) {
    if (opened.address.engine !== "sqlite") throw new Error("only SQLite files are backed up");
    this.opened = opened;
    this.address = opened.address;
    this.books = books;
  }

  static async make(): Promise<GivenSource> {
    const opened = await openTestDatabase("sqlite");
    const books = await GivenBooks.open(opened.database, "Duka");
    await makeTraffic(books);
    await GivenBooks.withoutKey(opened.database, "Shule");
    return new GivenSource(opened, books);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  backUp(name = "backup.db"): Promise<Backup> {
    return backUp(this.address, this.path(name));
  }

  async dispose(): Promise<void> {
    await this.opened.dispose();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The message of the error with which the work ends. */
export async function problemOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
  throw new Error("there was no error");
}
