import type { Command } from "commander";

import { type ApiKey, isLive } from "../../domain/api-key.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { keys as openKeys } from "../../storage/keys.js";
import { listedKeyJson } from "./keys-json.js";
import { findOrganization } from "./organizations.js";
import { printJson, printLine, printTable, timeOf } from "./output.js";

/** `kesc key list`: lists the API keys of an organization, oldest first, without their secrets. */
export function addKeyList(key: Command): void {
  key
    .command("list")
    .description("list the API keys of an organization")
    .requiredOption("--org <organization>", "id or name of the organization")
    .option("--json", "print JSON, for scripts")
    .action(async ({ org, json }: { org: string; json?: true }) => {
      const { database: address } = configFromEnvironment();
      const found = await withCurrentDatabase(address, async (database) => {
        const keys = openKeys(database, now);
        return keys.apiKeys((await findOrganization(keys, org)).id);
      });
      if (json === true) printJson(found.map(listedKeyJson));
      else if (found.length === 0) printLine(`No keys yet. Create one: npx kesc key create --org ${org} --name NAME`);
      else printTable([["ID", "STATE", "CREATED", "SCOPES", "NAME"], ...found.map(rowOf)]);
    });
}

function rowOf(key: ApiKey): string[] {
  return [key.id, stateOf(key), timeOf(key.createdAt), key.scopes.join(","), key.name];
}

function stateOf(key: ApiKey): string {
  if (key.revokedAt !== undefined) return `revoked ${timeOf(key.revokedAt)}`;
  if (!isLive(key, now())) return `expired ${timeOf(key.expiresAt) ?? ""}`;
  return key.expiresAt === undefined ? "live" : `live until ${timeOf(key.expiresAt)}`;
}
