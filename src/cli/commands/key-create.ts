import type { Command } from "commander";

import { type Scope, SCOPES } from "../../domain/api-key.js";
import { toUnixMillis } from "../../domain/values/time.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { keys as openKeys } from "../../storage/keys.js";
import { durationMillis, nonEmptyName, scopeList } from "./arguments.js";
import { keyJson } from "./keys-json.js";
import { findOrganization } from "./organizations.js";
import { printJson, printLine, timeOf } from "./output.js";

interface Options {
  readonly org: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresIn?: number;
  readonly json?: true;
}

/** `kesc key create`: creates an API key and prints its secret. No later command can print it. */
export function addKeyCreate(key: Command): void {
  key
    .command("create")
    .description("create an API key")
    .requiredOption("--org <organization>", "id or name of the organization")
    .requiredOption("--name <name>", "label of the key", nonEmptyName)
    .option("--scopes <scopes>", `some of ${SCOPES.join(",")} (default: all)`, scopeList, SCOPES)
    .option("--expires-in <duration>", "lifetime of the key, such as 90d or 12h (default: unlimited)", durationMillis)
    .option("--json", "print JSON, for scripts")
    .action(createKey);
}

async function createKey({ org, name, scopes, expiresIn, json }: Options): Promise<void> {
  const { database: address } = configFromEnvironment();
  const { key, secret } = await withCurrentDatabase(address, async (database) => {
    const keys = openKeys(database, now);
    const { id: organizationId } = await findOrganization(keys, org);
    const expiresAt = expiresIn === undefined ? undefined : toUnixMillis(now() + expiresIn);
    return keys.createApiKey({ organizationId, name, scopes, expiresAt });
  });
  if (json === true) {
    printJson({ ...keyJson(key), key: secret });
    return;
  }
  printLine(`Created key ${key.id} ("${key.name}") of ${key.organizationId}.`);
  printLine(`Scopes: ${key.scopes.join(", ")}. Expires: ${timeOf(key.expiresAt) ?? "never"}.`);
  printLine(`\n  ${secret}\n`);
  printLine("The secret is shown once and cannot be recovered. Store it where your program can read it.");
}
