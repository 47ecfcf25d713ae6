import { type ApiKey, isLive } from "../../domain/api-key.js";
import type { ApiKeyId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Keys } from "../../ledger/ports/keys.js";
import type { Database } from "../database.js";
import type { Columns } from "../sql/engine.js";

const USE_COLUMNS = { id: "text", last_used_at: "int64" } as const satisfies Columns;
// The database knows the last use to about an hour. More would be a commit a second for each key.
const KNOWN_MILLIS = 3_600_000;
const FLUSH_MILLIS = 60_000;
// One commit writes this many uses. The commits of calls wait for it.
const COMMIT_USES_MAX = 500;

/**
 * Notes when API keys were used last. Writes at most once an hour for each key, a minute after the
 * use or when the server stops. No call waits for it. A database that takes no writes loses the
 * note.
 */
export class KeyUses {
  readonly #cells: Database["cells"];
  readonly #now: () => UnixMillis;
  /** The uses to write, by the number of the cell. */
  #uses = new Map<number, Map<ApiKeyId, UnixMillis>>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor({ cells }: Pick<Database, "cells">, now: () => UnixMillis) {
    this.#cells = cells;
    this.#now = now;
  }

  /** Returns the same look-up, which notes the use of each live key that it finds. */
  noting({ apiKeyWithSecret }: Pick<Keys, "apiKeyWithSecret">): Pick<Keys, "apiKeyWithSecret"> {
    return {
      apiKeyWithSecret: async (secret) => {
        const key = await apiKeyWithSecret(secret);
        if (key !== undefined && key !== "moved") this.#note(key);
        return key;
      },
    };
  }

  /** Writes the uses that were noted. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const uses = this.#uses;
    this.#uses = new Map();
    this.#writing = this.#writing.then(async () => {
      for (const [cell, own] of uses) await this.#write(cell, own).catch(() => undefined);
    });
    return this.#writing;
  }

  #note(key: ApiKey): void {
    const now = this.#now();
    if (!isLive(key, now) || (key.lastUsedAt !== undefined && now - key.lastUsedAt < KNOWN_MILLIS)) return;
    const own = this.#uses.get(key.cell) ?? new Map<ApiKeyId, UnixMillis>();
    this.#uses.set(key.cell, own.set(key.id, now));
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MILLIS).unref();
  }

  async #write(number: number, uses: ReadonlyMap<ApiKeyId, UnixMillis>): Promise<void> {
    const cell = this.#cells[number];
    if (cell === undefined) return;
    const { table, update, within, jsonItems, forUpdate } = cell.engine;
    const rows = [...uses].map(([id, at]) => ({ id, last_used_at: at }));
    const sql = update(table("api_keys"), { key: "id", columns: USE_COLUMNS });
    for (let begin = 0; begin < rows.length; begin += COMMIT_USES_MAX) {
      const some = rows.slice(begin, begin + COMMIT_USES_MAX);
      await cell.transact(async (session) => {
        // In the order of a batch that revokes keys. Otherwise both could wait for each other.
        const ids = JSON.stringify(some.map(({ id }) => id));
        const keys = within("id", `SELECT value FROM ${jsonItems("?")}`);
        const lock = `SELECT id FROM ${table("api_keys")} WHERE ${keys} ORDER BY id ${forUpdate}`;
        await session.read({ sql: lock, bindings: [ids] });
        await session.write([{ sql, rows: some }]);
      });
    }
  }
}
