import { createHash, randomBytes } from "node:crypto";

import { typeidUnboxed } from "typeid-js";

import { type ApiKey, isLive, namesOfCredential, type Organization } from "../domain/api-key.js";
import type { ApiKeyId, OrganizationId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { Keys, NewApiKey, NewCertificateKey } from "../ledger/ports/keys.js";
import { StoreError } from "../ledger/ports/store.js";
import type { Cell, Database } from "./database.js";
import { isKeptHere } from "./moves/here.js";
import {
  certificateHash,
  certificateKeys,
  GENERATIONS_READ,
  type ReadByHashes,
} from "./organizations/certificate-keys.js";
import { insertOrganization } from "./organizations/new-organization.js";
import { lockBook, ownRowWrites } from "./organizations/own-rows.js";
import {
  API_KEY_COLUMNS,
  apiKeyOf,
  type ApiKeyRow,
  contentOfApiKey,
  type ListedOrganizationRow,
  organizationOf,
  type OrganizationRow,
} from "./sql/organization-rows.js";
import { orStoreError } from "./sql/store-error.js";

const SECRET_BYTES = 32;
const CONFLICT_TRIES_MAX = 20;
const SECRET = /^kesc_(?:test_)?(0|[1-9][0-9]{0,2})_[A-Za-z0-9_-]{43}$/;

/** Implements the port `Keys` for all cells of the database. */
export function keys({ cells }: Database, now: () => UnixMillis): Keys {
  const [first, ...others] = cells.map((cell) => new CellKeys(cell, now));
  if (first === undefined) throw new Error("the database has no cell");
  const all = [first, ...others];

  /** Returns the first result that is not undefined. */
  const inSomeCell = async <Result>(
    find: (cell: CellKeys) => Promise<Result | undefined>,
  ): Promise<Result | undefined> => (await Promise.all(all.map(find))).find((result) => result !== undefined);

  const organizations = async (): Promise<readonly Organization[]> =>
    (await Promise.all(all.map((cell) => cell.organizations()))).flat().sort(byAge);

  const homeOf = async (id: OrganizationId): Promise<readonly [Organization, CellKeys]> => {
    const organization = await inSomeCell((cell) => cell.organization(id));
    const cell = organization === undefined ? undefined : all[organization.cell];
    if (organization === undefined || cell === undefined) throw new Error(`there is no organization ${id}`);
    return [organization, cell];
  };

  /** Returns the one valid key, or an invalid one if there is no valid key. */
  const certificateKey = async (names: readonly string[]): Promise<FoundKey> => {
    const found = await Promise.all(names.flatMap((name) => all.map((cell) => cell.newestCertificateKey(name))));
    const known = found.filter(isKey);
    const live = known.filter((key) => isLive(key, now()));
    // With two, nobody could say who calls.
    if (live.length > 1) return undefined;
    return live[0] ?? known[0] ?? found.find((key) => key === "moved");
  };

  /**
   * A key names the cell in which it was made. If the organization has moved, another cell has the
   * key, with the same text.
   */
  const secretKey = async (secret: string, number: number): Promise<FoundKey> => {
    const named = await all[number]?.apiKeyWithSecret(secret);
    if (isKey(named)) return named;
    const others = all.filter((_, index) => index !== number);
    const found = await Promise.all(others.map((cell) => cell.apiKeyWithSecret(secret)));
    return found.find(isKey) ?? [named, ...found].find((key) => key === "moved");
  };

  return {
    async createOrganization(name, given) {
      const number = given?.cell ?? emptiestOf(all.length, await organizations());
      const cell = all[number];
      if (cell === undefined) throw new RangeError(`there is no cell ${String(number)}`);
      return cell.createOrganization(name, given?.isSandbox === true);
    },

    organizations,

    organization: (id) => inSomeCell((cell) => cell.organization(id)),

    async createApiKey(key) {
      const [organization, cell] = await homeOf(key.organizationId);
      return cell.createApiKey(organization, key);
    },

    async createCertificateKey(key) {
      const [{ id }, cell] = await homeOf(key.organizationId);
      const holder = await certificateKey([key.certificateName]);
      if (isKey(holder) && isLive(holder, now())) return { key: undefined, holder };
      return { key: await cell.createCertificateKey(id, key) };
    },

    async apiKeys(organizationId) {
      const found = await Promise.all(all.map((cell) => cell.apiKeys(organizationId)));
      return found.flat();
    },

    revokeApiKey: (id) => inSomeCell((cell) => cell.revokeApiKey(id)),

    async apiKeyWithSecret(secret) {
      const names = namesOfCredential(secret);
      if (names !== undefined) return certificateKey(names);
      const [, number] = SECRET.exec(secret) ?? [];
      return number === undefined ? undefined : secretKey(secret, Number(number));
    },
  };
}

/** "moved": the organization of the key has left the cell. */
type FoundKey = ApiKey | "moved" | undefined;

function isKey(found: FoundKey): found is ApiKey {
  return found !== undefined && found !== "moved";
}

function byAge(left: Organization, right: Organization): number {
  return left.createdAt - right.createdAt || (left.id < right.id ? -1 : 1);
}

function emptiestOf(cellCount: number, organizations: readonly Organization[]): number {
  const counts = Array.from({ length: cellCount }, () => 0);
  for (const { cell } of organizations) counts[cell] = (counts[cell] ?? 0) + 1;
  return counts.indexOf(Math.min(...counts));
}

/** The organizations and keys of one cell. */
class CellKeys {
  readonly #cell: Cell;
  readonly #now: () => UnixMillis;
  readonly #statements: ReturnType<typeof statementsOf>;

  constructor(cell: Cell, now: () => UnixMillis) {
    this.#cell = cell;
    this.#now = now;
    this.#statements = statementsOf(cell);
  }

  async createOrganization(name: string, isSandbox: boolean): Promise<Organization> {
    const row: OrganizationRow = {
      id: typeidUnboxed("org"),
      name,
      is_sandbox: isSandbox ? 1 : 0,
      created_at: this.#now(),
    };
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#failing(insertOrganization(this.#cell, row));
        return organizationOf({ ...row, suspended_seq: null }, this.#cell.number);
      } catch (error) {
        // Another process took the number of the book.
        const isConflict = error instanceof StoreError && error.kind === "conflict";
        if (!isConflict || tries === CONFLICT_TRIES_MAX) throw error;
      }
    }
  }

  async organizations(): Promise<readonly Organization[]> {
    const rows = await this.#rows<ListedOrganizationRow>(this.#statements.organizations);
    return rows.map((row) => organizationOf(row, this.#cell.number));
  }

  async organization(id: OrganizationId): Promise<Organization | undefined> {
    const [row] = await this.#rows<ListedOrganizationRow>(this.#statements.organization, [id]);
    return row === undefined ? undefined : organizationOf(row, this.#cell.number);
  }

  async createApiKey(
    { id: organizationId, isSandbox }: Organization,
    { name, scopes, expiresAt }: NewApiKey,
  ): Promise<{ key: ApiKey; secret: string }> {
    const kind = isSandbox ? "kesc_test_" : "kesc_";
    const secret = `${kind}${String(this.#cell.number)}_${randomBytes(SECRET_BYTES).toString("base64url")}`;
    const key = await this.#insertApiKey({ organizationId, name, scopes, expiresAt }, () =>
      Promise.resolve(sha256(secret)),
    );
    return { key, secret };
  }

  createCertificateKey(
    organizationId: OrganizationId,
    { certificateName: name, scopes, expiresAt }: NewCertificateKey,
  ): Promise<ApiKey> {
    return this.#insertApiKey({ organizationId, name, scopes, expiresAt }, async (read) => {
      const { count } = await certificateKeys(name, read);
      return certificateHash(name, count);
    });
  }

  /** Returns the last key that was made for this name of a certificate. */
  async newestCertificateKey(name: string): Promise<FoundKey> {
    const { newest } = await certificateKeys(name, (hashes) =>
      this.#rows<PlacedKeyRow>(this.#statements.apiKeysWithHashes, hashes),
    );
    return newest === undefined ? undefined : this.#foundKey(newest as PlacedKeyRow);
  }

  async #insertApiKey(
    { organizationId, name, scopes, expiresAt }: NewApiKey,
    hashOf: (read: ReadByHashes) => Promise<string>,
  ): Promise<ApiKey> {
    const row = await this.#failing(
      this.#cell.transact(async (session) => {
        const book = await lockBook(this.#cell, session, { organizationId, now: this.#now() });
        const hash = await hashOf(async (bindings) => {
          const rows = await session.read({ sql: this.#statements.apiKeysWithHashes, bindings });
          return rows as readonly ApiKeyRow[];
        });
        const made: ApiKeyRow = {
          id: typeidUnboxed("key"),
          organization_id: organizationId,
          name,
          secret_sha256: hash,
          scopes: scopes.join(" "),
          seq: book.nextSeq,
          created_at: book.recordedAt,
          expires_at: expiresAt ?? null,
          revoked_seq: null,
          revoked_at: null,
          last_used_at: null,
        };
        await session.write([
          ...ownRowWrites(this.#cell, book, { kind: "key.created", created: contentOfApiKey(made) }),
          { sql: this.#statements.insertApiKey, rows: [made] },
        ]);
        return made;
      }),
    );
    return this.#apiKeyOf(row);
  }

  async apiKeys(organizationId: OrganizationId): Promise<readonly ApiKey[]> {
    const rows = await this.#rows<ApiKeyRow>(this.#statements.apiKeys, [organizationId]);
    return rows.map((row) => this.#apiKeyOf(row));
  }

  async revokeApiKey(id: ApiKeyId): Promise<ApiKey | undefined> {
    const { revokeApiKey, apiKey } = this.#statements;
    const row = await this.#failing(
      this.#cell.transact(async (session) => {
        const read = async (): Promise<ApiKeyRow | undefined> => {
          const [found] = await session.read({ sql: apiKey, bindings: [id] });
          return found as ApiKeyRow | undefined;
        };
        const found = await read();
        if (found === undefined) return undefined;
        const organizationId = found.organization_id as OrganizationId;
        const book = await lockBook(this.#cell, session, { organizationId, now: this.#now() });
        // Another process may have revoked the key before this one had the lock.
        if ((await read())?.revoked_at === null) {
          const revoked = { id, revoked_seq: book.nextSeq, revoked_at: book.recordedAt };
          await session.write([
            ...ownRowWrites(this.#cell, book, { kind: "key.revoked", created: [id] }),
            { sql: revokeApiKey, rows: [revoked] },
          ]);
        }
        return read();
      }),
    );
    return row === undefined ? undefined : this.#apiKeyOf(row);
  }

  async apiKeyWithSecret(secret: string): Promise<FoundKey> {
    const [row] = await this.#rows<PlacedKeyRow>(this.#statements.apiKeyWithSecret, [sha256(secret)]);
    return row === undefined ? undefined : this.#foundKey(row);
  }

  /** A book that arrives has its keys already, but serves nobody before it is opened. */
  #foundKey(row: PlacedKeyRow): FoundKey {
    const { phase } = row;
    if (phase === null || phase === "LEAVING") return this.#apiKeyOf(row);
    return phase === "LEFT" || phase === "EMPTYING" ? "moved" : undefined;
  }

  #apiKeyOf(row: ApiKeyRow): ApiKey {
    return apiKeyOf(row, this.#cell.number);
  }

  #rows<Row>(sql: string, bindings: readonly string[] = []): Promise<readonly Row[]> {
    return this.#failing(this.#cell.reader.rows<Row>(sql, bindings));
  }

  #failing<Result>(work: PromiseLike<Result>): Promise<Result> {
    return orStoreError(this.#cell.engine, work);
  }
}

/** A key, and where a move of its organization's book stands. */
type PlacedKeyRow = ApiKeyRow & { readonly phase: string | null };

function statementsOf({ engine: { table, insertInto, update } }: Pick<Cell, "engine">) {
  const apiKeys = table("api_keys");
  const isHere = isKeptHere({ table });
  const organizations = `
    SELECT o.*, b.suspended_seq
    FROM ${table("organizations")} o LEFT JOIN ${table("books")} b ON b.organization_id = o.id WHERE ${isHere}`;
  const keys = `
    SELECT k.*, m.phase FROM ${apiKeys} k
    LEFT JOIN ${table("books")} b ON b.organization_id = k.organization_id
    LEFT JOIN ${table("book_moves")} m ON m.book = b.number`;
  return {
    organizations,
    organization: `${organizations} AND o.id = ?`,
    insertApiKey: insertInto(apiKeys, API_KEY_COLUMNS),
    apiKeys: `${keys} WHERE k.organization_id = ? AND ${isHere} ORDER BY k.created_at, k.id`,
    apiKey: `${keys} WHERE k.id = ? AND ${isHere}`,
    apiKeyWithSecret: `${keys} WHERE k.secret_sha256 = ?`,
    apiKeysWithHashes: `${keys} WHERE k.secret_sha256 IN (${Array(GENERATIONS_READ).fill("?").join(", ")})`,
    revokeApiKey: update(apiKeys, {
      key: "id",
      columns: { id: "text", revoked_seq: "int64", revoked_at: "int64" },
    }),
  };
}

function sha256(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
