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

/** `kesc key create`: makes a key and shows its secret, this once. */
export function addKeyCreate(key: Command): void {
  key
    .command("create")
    .description("make a key")
    .requiredOption("--org <organization>", "its id, or its name")
    .requiredOption("--name <name>", "your word for the key", nonEmptyName)
    .option("--scopes <scopes>", `some of ${SCOPES.join(",")} (default: all)`, scopeList, SCOPES)
    .option("--expires-in <duration>", "such as 90d or 12h (default: never)", durationMillis)
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
  printLine(`Made key ${key.id} ("${key.name}") of ${key.organizationId}.`);
  printLine(`It may: ${key.scopes.join(", ")}. It expires: ${timeOf(key.expiresAt) ?? "never"}.`);
  printLine(`\n  ${secret}\n`);
  printLine("This is shown once and can't be had again: put it where your program finds it.");
}
