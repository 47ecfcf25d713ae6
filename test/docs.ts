/**
 * `make docs`: writes what the documents take from the code and from bench/results, and what
 * `verify` expects of PostgreSQL's catalog.
 */
import { writeFileSync } from "node:fs";

import { takeDownAll } from "./support/at-the-end.js";
import { generatedDocuments } from "./support/documents/generated.js";
import { POSTGRES_OBJECTS_FILE, postgresObjectsText } from "./support/documents/postgres-objects.js";

for (const [file, text] of await generatedDocuments()) writeFileSync(file, text);
try {
  writeFileSync(POSTGRES_OBJECTS_FILE, await postgresObjectsText());
} finally {
  await takeDownAll();
}
