import type { Command } from "commander";

import { parseApiKeyId } from "../../domain/values/ids.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { Problem } from "../../startup/operator-error.js";
import { keys } from "../../storage/keys.js";
import { listedKeyJson } from "./keys-json.js";
import { printJson, printLine, timeOf } from "./output.js";

/** `kesc key revoke`: revokes an API key for ever. Servers notice within a second. */
export function addKeyRevoke(key: Command): void {
  key
    .command("revoke")
    .description("revoke an API key for ever")
    .argument("<key-id>", 'id of the key ("key_…"), not its secret')
    .option("--json", "print JSON, for scripts")
    .action(async (text: string, { json }: { json?: true }) => {
      const id = parseApiKeyId(text);
      // The argument may be a secret, so the message does not repeat it.
      if (!id.ok)
        throw new Problem(`The id of the key ${id.problem}. To list the keys: npx kesc key list --org ORG`, 2);
      const { database: address } = configFromEnvironment();
      const revoked = await withCurrentDatabase(address, (database) => keys(database, now).revokeApiKey(id.value));
      if (revoked === undefined)
        throw new Problem(`Key ${id.value} not found. To list the keys: npx kesc key list --org ORG`);
      if (json === true) printJson(listedKeyJson(revoked));
      else printLine(`Key ${revoked.id} ("${revoked.name}") was revoked at ${timeOf(revoked.revokedAt) ?? ""}.`);
    });
}
