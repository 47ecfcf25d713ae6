import type { StoredApiKey } from "../api-key.js";
import type { Authorized } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { bookEntryOf, byOnePerson } from "../second-person.js";
import type { ApiKeyId } from "../values/ids.js";
import type { UnixMillis } from "../values/time.js";

/** Revokes an API key for ever. */
export interface RevokeApiKey extends Authorized {
  readonly name: "revokeApiKey";
  readonly keyId: ApiKeyId;
}

const operation: Operation<RevokeApiKey, StoredApiKey> = { lookup, decide, isForAnyClock: true };

/** It only takes power away, and must be quick. */
export const revokeApiKey = byOnePerson(operation);

function lookup({ keyId }: RevokeApiKey, rows: Lookup): void {
  rows.need("apiKey", keyId);
}

/**
 * Revokes an API key for ever. A key that is revoked already is a replay.
 *
 * Refuses: API_KEY_NOT_FOUND.
 */
function decide(book: Book, command: RevokeApiKey, now: UnixMillis): Decision<StoredApiKey> {
  const { organizationId, keyId } = command;
  const key = book.apiKey(organizationId, keyId);
  if (key === undefined) return refuse({ reason: "API_KEY_NOT_FOUND", keyId });
  if (key.revokedAt !== undefined) return replay(key);
  const row: StoredApiKey = { ...key, revokedAt: now };
  const entry = bookEntryOf({ ...command, now }, { kind: "key.revoked", detail: keyId });
  return { kind: "effect", resource: row, effect: { entries: [entry], puts: [{ table: "apiKeys", row }] } };
}
