import type { Command } from "commander";

import { type ApiKey, isLive, type Scope, SCOPES } from "../../domain/api-key.js";
import { parseApiKeyId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { keys as openKeys } from "../../storage/keys.js";
import { certificateName, durationMillis, nonEmptyName, scopeList } from "../commands/arguments.js";
import { adviseIfOutputIsLost, printJson, printLine, printTable, timeOf } from "../commands/output.js";
import { findOrganization, keyCreation } from "../organizations.js";
import { type ServerOptions, withAdministration, withServerOption } from "./open.js";
import { doneOrProposed } from "./words.js";

const WRONG_USAGE = 2;

/** `kesc key`: creates, lists and revokes API keys. */
export function addKey(program: Command): void {
  const key = program.command("key").description("API keys, with which an organization's programs call");
  withServerOption(key.command("create"))
    .description("create an API key")
    .requiredOption("--org <organization>", "id or name of the organization")
    .option("--name <name>", "label of the key", nonEmptyName)
    .option("--certificate <name>", "a client certificate in place of a secret: URI:… or DNS:…", certificateName)
    .option("--scopes <scopes>", `what the key may do: some of ${SCOPES.join(",")}`, scopeList)
    .option("--all-scopes", "the key may do everything")
    .option("--expires-in <duration>", "lifetime of the key, such as 90d or 12h", durationMillis)
    .option("--never-expires", "the key is valid until it is revoked")
    .option("--json", "print JSON, for scripts")
    .action(createKey);
  withServerOption(key.command("list"))
    .description("list the keys of an organization")
    .requiredOption("--org <organization>", "id or name of the organization")
    .option("--json", "print JSON, for scripts")
    .action(listKeys);
  withServerOption(key.command("revoke"))
    .description("revoke an API key for ever")
    .argument("<key-id>", 'id of the key ("key_…"), not its secret')
    .option("--json", "print JSON, for scripts")
    .action(revokeKey);
}

interface CreateKeyOptions extends ServerOptions {
  readonly org: string;
  readonly name?: string;
  readonly certificate?: string;
  readonly scopes?: readonly Scope[];
  readonly allScopes?: true;
  readonly expiresIn?: number;
  readonly neverExpires?: true;
  readonly json?: true;
}

/** Shows the secret of the new key, this once. */
async function createKey({ org, name, certificate, json, server, ...limits }: CreateKeyOptions): Promise<void> {
  const { scopes, expiresIn } = limitsOf(limits);
  const expiresAt = expiresIn === undefined ? undefined : toUnixMillis(now() + expiresIn);
  if ((name === undefined) === (certificate === undefined)) {
    throw new OperatorError(
      "Give the key a label with --name, or the name of a client certificate with --certificate.",
      WRONG_USAGE,
    );
  }
  if (certificate !== undefined) {
    printKey(await createCertificateKey({ org, certificate, server, scopes, expiresAt }), { json });
    return;
  }
  const { submitted, secret } = await withAdministration({ server }, async (administration) => {
    const organization = await findOrganization(administration, org);
    return administration.createKey(organization, { name: name ?? "", scopes, expiresAt });
  });
  const done = doneOrProposed(submitted);
  if (done !== undefined) {
    const { id } = done.resource;
    adviseIfOutputIsLost(
      `Key ${id} was created, but its secret is lost. Revoke it: kesc key revoke ${id}. Then create another key.`,
    );
    printKey(done.resource, { secret, json });
    return;
  }
  printLine(`The secret of the key, which works once another person has approved it:\n\n  ${secret}\n`);
  printLine("The secret is shown once and cannot be recovered. Store it where your program can read it.");
}

interface CertificateKeyOptions extends ServerOptions, Pick<ApiKey, "scopes" | "expiresAt"> {
  readonly org: string;
  readonly certificate: string;
}

/** Certificates are files of the machines, so such a key is made where the database is. */
async function createCertificateKey({ org, certificate, server, ...limits }: CertificateKeyOptions): Promise<ApiKey> {
  const { database: address, operatorServer } = configFromEnvironment();
  if ((server ?? operatorServer) !== undefined) {
    throw new OperatorError("--certificate works in the database only. Leave the server out.", WRONG_USAGE);
  }
  return withCurrentDatabase(address, async (database) => {
    const keys = openKeys(database, now);
    const { id: organizationId } = await findOrganization(keys, org);
    const made = await keys.createCertificateKey({ organizationId, certificateName: certificate, ...limits });
    if (made.key === undefined) throw takenError(certificate, made.holder);
    return made.key;
  });
}

function printKey(key: ApiKey, { secret, json }: { readonly secret?: string; readonly json: true | undefined }): void {
  if (json === true) {
    printJson(secret === undefined ? keyJson(key) : { ...keyJson(key), key: secret });
    return;
  }
  printLine(`Created key ${key.id} ("${key.name}") of ${key.organizationId}.`);
  printLine(`Scopes: ${key.scopes.join(", ")}. Expires: ${timeOf(key.expiresAt) ?? "never"}.`);
  if (secret === undefined) {
    printLine("It has no secret: gRPC callers without a key, whose certificate has this name, call with it.");
    return;
  }
  printLine(`\n  ${secret}\n`);
  printLine("The secret is shown once and cannot be recovered. Store it where your program can read it.");
}

function takenError(name: string, { id, organizationId }: ApiKey): OperatorError {
  return new OperatorError(
    `Key ${id} of ${organizationId} has the certificate name ${name} already. Revoke it first: kesc key revoke ${id}`,
  );
}

/**
 * Returns what the key may do, and its lifetime in milliseconds. Throws an OperatorError unless
 * both were named: a key that may do everything for ever must be a decision.
 */
function limitsOf({
  scopes,
  allScopes,
  expiresIn,
  neverExpires,
}: Omit<CreateKeyOptions, "org" | "name" | "certificate" | "json" | "server">): {
  readonly scopes: readonly Scope[];
  readonly expiresIn: number | undefined;
} {
  const problems: string[] = [];
  if ((scopes === undefined) === (allScopes === undefined)) {
    problems.push(`Say what the key may do, with one of: --scopes ${SCOPES.join(",")} (some of them), --all-scopes.`);
  }
  if ((expiresIn === undefined) === (neverExpires === undefined)) {
    problems.push("Say how long the key is valid, with one of: --expires-in 90d, --never-expires.");
  }
  if (problems.length > 0) throw new OperatorError(problems.join("\n"), WRONG_USAGE);
  return { scopes: scopes ?? SCOPES, expiresIn };
}

interface ListKeysOptions extends ServerOptions {
  readonly org: string;
  readonly json?: true;
}

/** Oldest first, without their secrets. */
async function listKeys({ org, json, ...options }: ListKeysOptions): Promise<void> {
  const found = await withAdministration(options, async (administration) =>
    administration.apiKeys((await findOrganization(administration, org)).id),
  );
  if (json === true) printJson(found.map(listedKeyJson));
  else if (found.length === 0) printLine(`No keys yet. Create one: ${keyCreation(org)}`);
  else {
    printTable([["ID", "STATE", "CREATED", "LAST USED", "SCOPES", "NAME"], ...found.map(rowOf)], (text, heading) => {
      if (heading !== "STATE") return undefined;
      return text.startsWith("live") ? "green" : "dim";
    });
  }
}

/** Servers notice within a second. */
async function revokeKey(text: string, { json, ...options }: Omit<ListKeysOptions, "org">): Promise<void> {
  const id = parseApiKeyId(text);
  // The message does not repeat the argument, which may be a secret.
  if (!id.ok)
    throw new OperatorError(`The id of the key ${id.problem}. To list the keys: kesc key list --org ORG`, WRONG_USAGE);
  const submitted = await withAdministration(options, (administration) =>
    administration.submit({ kind: "key.revoke", keyId: id.value }),
  );
  if (submitted.kind === "refused" && submitted.refusal.reason === "API_KEY_NOT_FOUND") {
    throw new OperatorError(`Key ${id.value} not found. To list the keys: kesc key list --org ORG`);
  }
  const done = doneOrProposed(submitted);
  if (done === undefined) return;
  const revoked = done.resource;
  if (json === true) printJson(listedKeyJson(revoked));
  else printLine(`Key ${revoked.id} ("${revoked.name}") was revoked at ${timeOf(revoked.revokedAt) ?? ""}.`);
}

function rowOf(key: ApiKey): string[] {
  return [
    key.id,
    stateOf(key),
    timeOf(key.createdAt),
    timeOf(key.lastUsedAt) ?? "never",
    key.scopes.join(","),
    key.name,
  ];
}

function stateOf(key: ApiKey): string {
  if (key.revokedAt !== undefined) return `revoked ${timeOf(key.revokedAt)}`;
  if (!isLive(key, now())) return `expired ${timeOf(key.expiresAt) ?? ""}`;
  return key.expiresAt === undefined ? "live" : `live until ${timeOf(key.expiresAt)}`;
}

interface KeyJson {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly created_at: string;
  readonly expires_at: string | null;
}

/** A key as scripts read it, without its secret. */
function keyJson(key: ApiKey): KeyJson {
  return {
    id: key.id,
    organization_id: key.organizationId,
    name: key.name,
    scopes: key.scopes,
    created_at: timeOf(key.createdAt),
    expires_at: timeOf(key.expiresAt),
  };
}

/** The same for a key that may have been revoked. The last use is known to about an hour. */
function listedKeyJson(key: ApiKey): KeyJson & Readonly<Record<"revoked_at" | "last_used_at", string | null>> {
  return { ...keyJson(key), revoked_at: timeOf(key.revokedAt), last_used_at: timeOf(key.lastUsedAt) };
}
