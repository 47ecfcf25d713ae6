import { SCOPES } from "../../../domain/api-key.js";
import { parseApiKeyId } from "../../../domain/values/ids.js";
import { now } from "../../../startup/clock.js";
import { UsageError } from "../../../startup/operator-error.js";
import { certificateName, durationMillis, nonEmptyName, scopeList } from "../../commands/arguments.js";
import { timeOf } from "../../commands/output.js";
import { keyCreation } from "../../key-creation.js";
import { limitsOf } from "../key-limits.js";
import { type MessageJson, type Row, type Run, textOf } from "../row.js";
import { idArgument, OWNER } from "./parameters.js";

/** `kesc key`. */
export const KEY_ROWS: readonly Row[] = [
  {
    path: "key create",
    description: "create an API key",
    rpc: "CreateApiKey",
    parameters: [
      OWNER,
      { flags: "--name <name>", help: "label of the key", field: "name", parse: nonEmptyName },
      {
        flags: "--certificate <name>",
        help: "a client certificate in place of a secret: URI:… or DNS:…",
        parse: certificateName,
      },
      { flags: "--scopes <scopes>", help: `what the key may do: some of ${SCOPES.join(",")}`, parse: scopeList },
      { flags: "--all-scopes", help: "the key may do everything" },
      { flags: "--expires-in <duration>", help: "lifetime of the key, such as 90d or 12h", parse: durationMillis },
      { flags: "--never-expires", help: "the key is valid until it is revoked" },
    ],
    byHand: certificateKey,
    request: limitFields,
    shows: "api_key",
    done: (key) =>
      [
        `Created key ${textOf(key["id"])} ("${textOf(key["name"])}") of ${textOf(key["organization_id"])}.`,
        `Scopes: ${textOf(key["scopes"])}. Expires: ${textOf(key["expires_at"] ?? "never")}.`,
        `\n  ${textOf(key["secret"])}\n`,
        "The secret is shown once and cannot be recovered. Store it where your program can read it.",
      ].join("\n"),
    proposed:
      "The secret of the key, which works once another person has approved it:\n\n  {secret}\n\n" +
      "The secret is shown once and cannot be recovered. Store it where your program can read it.",
    adviceOnLoss:
      "Key {id} was created, but its secret is lost. Revoke it: kesc key revoke {id}. Then create another key.",
  },
  {
    path: "key list",
    description: "list the keys of an organization",
    rpc: "ListApiKeys",
    parameters: [OWNER],
    items: "api_keys",
    columns: {
      ID: "id",
      STATE: stateOf,
      CREATED: "created_at",
      "LAST USED": (key) => textOf(key["last_used_at"] ?? "never"),
      SCOPES: (key) => (key["scopes"] as readonly string[]).join(","),
      NAME: "name",
    },
    style: (text, heading) => (heading !== "STATE" ? undefined : text.startsWith("live") ? "green" : "dim"),
    none: (_shown, { given }) => `No keys yet. Create one: ${keyCreation(textOf(given["org"]))}`,
  },
  {
    path: "key revoke",
    description: "revoke an API key for ever",
    rpc: "RevokeApiKey",
    parameters: [
      {
        flags: "<key-id>",
        help: 'id of the key ("key_…"), not its secret',
        field: "api_key_id",
        parse: idArgument("key", parseApiKeyId, "To list the keys: kesc key list --org ORG"),
      },
    ],
    shows: "api_key",
    done: 'Key {id} ("{name}") was revoked at {revoked_at}.',
  },
];

/** Certificates are files of the machines, so such a key is made where the database is. */
function certificateKey(given: MessageJson): Promise<void> | undefined {
  const limits = limitsOf(given);
  if ((given["name"] === undefined) === (given["certificate"] === undefined)) {
    throw new UsageError("Give the key a label with --name, or the name of a client certificate with --certificate.");
  }
  if (given["certificate"] === undefined) return undefined;
  return import("../certificate-key.js").then(({ createCertificateKey }) => createCertificateKey(given, limits));
}

function limitFields({ given }: Run): { readonly fields: MessageJson } {
  const { scopes, expiresIn } = limitsOf(given);
  const expires = expiresIn === undefined ? { never_expires: true } : { expires_at: timeOf(now() + expiresIn) };
  return { fields: { scopes, ...expires } };
}

function stateOf({ revoked_at: revokedAt, expires_at: expiresAt }: MessageJson): string {
  if (revokedAt !== null) return `revoked ${textOf(revokedAt)}`;
  if (expiresAt === null) return "live";
  return `${Date.parse(textOf(expiresAt)) <= now() ? "expired" : "live until"} ${textOf(expiresAt)}`;
}
