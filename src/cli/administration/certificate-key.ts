import type { ApiKey } from "../../domain/api-key.js";
import { toUnixMillis } from "../../domain/values/time.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError, UsageError } from "../../startup/operator-error.js";
import { keys as openKeys } from "../../storage/keys.js";
import { StoredAdministration } from "../../storage/operators/administration.js";
import { printJson, printLine, textOf, timeOf } from "../commands/output.js";
import { findOrganization } from "../organizations.js";
import type { KeyLimits } from "./key-limits.js";
import { type MachineOptions, refuseUnlessMeant } from "./on-database.js";
import { type MessageJson } from "./row.js";
import { serverOf } from "./session.js";

/** Creates a key for a name of client certificates. No rpc does that. */
export async function createCertificateKey(given: MessageJson, { scopes, expiresIn }: KeyLimits): Promise<void> {
  if (serverOf(given) !== undefined) {
    throw new UsageError("--certificate works in the database only. Leave the server out.");
  }
  const certificateName = textOf(given["certificate"]);
  const expiresAt = expiresIn === undefined ? undefined : toUnixMillis(now() + expiresIn);
  const key = await withCurrentDatabase(configFromEnvironment().database, async (database) => {
    await refuseUnlessMeant(
      new StoredAdministration(database, { now, fourEyes: new Set() }),
      given satisfies MachineOptions,
      "A key for a certificate is made on the database only: add --on-database --note TEXT.",
    );
    const keys = openKeys(database, now);
    const { id: organizationId } = await findOrganization(keys, textOf(given["org"]));
    const made = await keys.createCertificateKey({ organizationId, certificateName, scopes, expiresAt });
    if (made.key === undefined) throw takenError(certificateName, made.holder);
    return made.key;
  });
  if (given["json"] === true) printJson(keyJson(key));
  else {
    printLine(`Created key ${key.id} ("${key.name}") of ${key.organizationId}.`);
    printLine(`Scopes: ${key.scopes.join(", ")}. Expires: ${timeOf(key.expiresAt) ?? "never"}.`);
    printLine("It has no secret: gRPC callers without a key, whose certificate has this name, call with it.");
  }
}

/** Returns the key with the members that a list of keys has. */
function keyJson(key: ApiKey): MessageJson {
  return {
    id: key.id,
    organization_id: key.organizationId,
    name: key.name,
    scopes: key.scopes,
    created_at: timeOf(key.createdAt),
    expires_at: timeOf(key.expiresAt),
    revoked_at: timeOf(key.revokedAt),
    last_used_at: timeOf(key.lastUsedAt),
  };
}

function takenError(name: string, { id, organizationId }: ApiKey): OperatorError {
  return new OperatorError(
    `Key ${id} of ${organizationId} has the certificate name ${name} already. Revoke it first: kesc key revoke ${id}`,
  );
}
