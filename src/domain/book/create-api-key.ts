import type { Scope, StoredApiKey } from "../api-key.js";
import type { Authorized } from "../authority.js";
import { changes } from "../change.js";
import { NOTHING_TOUCHES } from "../deciding-rows.js";
import { type Book, type Decision, type Lookup, type Operation, replay } from "../decision.js";
import { bookEntryOf, withSecondPerson } from "../second-person.js";
import type { ApiKeyId } from "../values/ids.js";
import type { UnixMillis } from "../values/time.js";

export interface CreateApiKey extends Authorized {
  readonly name: "createApiKey";
  readonly newKeyId: ApiKeyId;
  readonly label: string;
  readonly scopes: readonly Scope[];
  /** Undefined for a key that never expires. */
  readonly expiresAt: UnixMillis | undefined;
  /** In hexadecimal. */
  readonly secretSha256: string;
}

const operation: Operation<CreateApiKey, StoredApiKey> = { lookup, decide };

export const createApiKey = withSecondPerson(operation, {
  groupOf: ({ scopes }) => (scopes.some(isWriting) ? "write_keys" : undefined),
  changesOf: ({ label, scopes, expiresAt }) =>
    changes(
      ["API key", "", label],
      ["scopes", "", scopes.join(", ")],
      ["expires", "", expiresAt === undefined ? "never" : new Date(expiresAt).toISOString()],
    ),
  // The key is new. The operation refuses a second one with its secret.
  touchedBy: NOTHING_TOUCHES,
});

function isWriting(scope: Scope): boolean {
  return !scope.endsWith(":read");
}

function lookup({ secretSha256 }: CreateApiKey, rows: Lookup): void {
  rows.need("apiKeyWithHash", secretSha256);
}

/** Creates an API key. A key with the same secret is a replay. */
function decide(book: Book, command: CreateApiKey, now: UnixMillis): Decision<StoredApiKey> {
  const { organizationId, newKeyId: id, label: name, scopes, expiresAt, secretSha256 } = command;
  const same = book.apiKeyWithHash(organizationId, secretSha256);
  if (same !== undefined) return replay(same);
  const row = { id, organizationId, name, scopes, createdAt: now, expiresAt, revokedAt: undefined, secretSha256 };
  const entry = bookEntryOf({ ...command, now }, { kind: "key.created" });
  return { kind: "effect", resource: row, effect: { entries: [entry], puts: [{ table: "apiKeys", row }] } };
}
