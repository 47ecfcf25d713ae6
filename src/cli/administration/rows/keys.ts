import { now } from "../../../startup/clock.js";
import { UsageError } from "../../../startup/operator-error.js";
import { textOf, timeOf } from "../../commands/output.js";
import { keyCreation } from "../../key-creation.js";
import { limitsOf } from "../key-limits.js";
import { type MessageJson, type Run } from "../row.js";
import type { CommandRows } from "./written.js";

const SHOWN_ONCE = "The secret is shown once and cannot be recovered. Store it where your program can read it.";

/** `kesc key`. */
export const KEY_ROWS: CommandRows = {
  "key create": {
    description: "create an API key",
    rpc: "CreateApiKey",
    examples: [
      '--org "Acme" --name "payroll" --scopes transactions:write,accounts:read --expires-in 90d',
      '--org "Acme" --certificate URI:spiffe://example.com/billing --scopes accounts:read --expires-in 365d',
    ],
    parameters: [
      "--org",
      { of: "--name?", help: "label of the key" },
      "--certificate?",
      "--scopes?",
      "--all-scopes?",
      "--expires-in?",
      "--never-expires?",
    ],
    byHand: certificateKey,
    request: limitFields,
    done: (key) =>
      `Created key ${textOf(key["id"])} ("${textOf(key["name"])}") of ${textOf(key["organization_id"])}.\n` +
      `Scopes: ${textOf(key["scopes"])}. Expires: ${textOf(key["expires_at"] ?? "never")}.\n` +
      `\n  ${textOf(key["secret"])}\n\n${SHOWN_ONCE}`,
    proposed: `The secret of the key, which works once another person has approved it:\n\n  {secret}\n\n${SHOWN_ONCE}`,
    adviceOnLoss:
      "Key {id} was created, but its secret is lost. Revoke it: kesc key revoke {id}. Then create another key.",
  },
  "key list": {
    description: "list the keys of an organization",
    rpc: "ListApiKeys",
    examples: ['--org "Acme"'],
    parameters: ["--org"],
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
  "key revoke": {
    description: "revoke an API key for ever",
    rpc: "RevokeApiKey",
    examples: ["key_01jd2r6p5vf8ksw3xhb1z7q4ye"],
    parameters: ["<key-id>"],
    done: 'Key {id} ("{name}") was revoked at {revoked_at}.',
  },
};

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
