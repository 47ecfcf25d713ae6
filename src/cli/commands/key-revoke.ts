import type { Command } from "commander";

import { parseApiKeyId } from "../../domain/values/ids.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { Problem } from "../../startup/operator-error.js";
import { keys } from "../../storage/keys.js";
import { listedKeyJson } from "./keys-json.js";
import { printJson, printLine, timeOf } from "./output.js";

/** `kesc key revoke`: ends a key for ever. Servers notice within a second. */
export function addKeyRevoke(key: Command): void {
  key
    .command("revoke")
    .description("end a key for ever")
    .argument("<key-id>", 'its id, "key_…"; not its secret')
    .option("--json", "print JSON, for scripts")
    .action(async (text: string, { json }: { json?: true }) => {
      const id = parseApiKeyId(text);
      // What was typed may be a secret: it is not repeated.
      if (!id.ok) throw new Problem(`The id of a key ${id.problem}. npx kesc key list --org ORG shows them.`, 2);
      const { database: address } = configFromEnvironment();
      const revoked = await withCurrentDatabase(address, (database) => keys(database, now).revokeApiKey(id.value));
      if (revoked === undefined)
        throw new Problem(`There is no key ${id.value}. npx kesc key list --org ORG shows them.`);
      if (json === true) printJson(listedKeyJson(revoked));
      else printLine(`Key ${revoked.id} ("${revoked.name}") is revoked since ${timeOf(revoked.revokedAt) ?? ""}.`);
    });
}
