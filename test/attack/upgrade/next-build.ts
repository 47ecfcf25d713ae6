import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { SCHEMA_RELEASE } from "../../../src/storage/migrate.js";
import { atTheEnd } from "../../support/at-the-end.js";

const REPOSITORY = resolve(import.meta.dirname, "../../../..");
const COLUMN = "upgrade_trial";
const RELEASE = `SCHEMA_RELEASE = ${String(SCHEMA_RELEASE)}`;
const MIGRATIONS = "const MIGRATIONS = {";
const TABLE = '"transactions": {';

/**
 * Copies this build, and gives the copy one more migration, as the next release could have it: a
 * column with a default. Returns the copy's kesc.
 */
export function makeNextBuild(): string {
  const folder = mkdtempSync(join(tmpdir(), "kesc-next-"));
  atTheEnd(() => {
    rmSync(folder, { recursive: true, force: true });
    return Promise.resolve();
  });
  for (const part of ["src", "runtime", "contract", "gateway", "proto", "swagger-ui"]) {
    cpSync(join(REPOSITORY, "dist", part), join(folder, "dist", part), { recursive: true });
  }
  cpSync(join(REPOSITORY, "package.json"), join(folder, "package.json"));
  symlinkSync(join(REPOSITORY, "node_modules"), join(folder, "node_modules"));
  const name = `9999-${COLUMN}.serves-${String(SCHEMA_RELEASE)}`;
  const column = `ADD COLUMN ${COLUMN} \${int64} NOT NULL DEFAULT 0`;
  const migration = `"${name}": ({ table, int64 }) => [\`ALTER TABLE \${table("transactions")} ${column}\`]`;
  const storage = join(folder, "dist/src/storage");
  edit(join(storage, "migrate.js"), RELEASE, `SCHEMA_RELEASE = ${String(SCHEMA_RELEASE + 1)}`);
  // At the end, as a migration of a new release.
  const source = readFileSync(join(storage, "migrate.js"), "utf8");
  const list = source.slice(source.indexOf(MIGRATIONS), source.indexOf("\n};", source.indexOf(MIGRATIONS)));
  edit(join(storage, "migrate.js"), list, `${list}\n    ${migration},`);
  edit(
    join(folder, "dist/src/storage/migrations/postgres-objects.json"),
    TABLE,
    `${TABLE} "column ${COLUMN}": "bigint NOT NULL DEFAULT 0",`,
  );
  return join(folder, "dist/src/cli/kesc.js");
}

/** Replaces a text that stands once in a file. */
function edit(file: string, text: string, by: string): void {
  const parts = readFileSync(file, "utf8").split(text);
  if (parts.length !== 2) throw new Error(`${file} has ${String(parts.length - 1)} times: ${text}`);
  writeFileSync(file, parts.join(by));
}
