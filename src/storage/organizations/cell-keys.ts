import { createHash, randomBytes } from "node:crypto";

import { typeidUnboxed } from "typeid-js";

import {
  type ApiKey,
  type FoundOrganization,
  isLive,
  type Organization,
  type StoredApiKey,
} from "../../domain/api-key.js";
import type { Refusal } from "../../domain/refusal.js";
import type { ApiKeyId, OrganizationId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { Keys, NewApiKey, NewCertificateKey } from "../../ledger/ports/keys.js";
import { StoreError } from "../../ledger/ports/store.js";
import { API_KEYS } from "../../model/organizations.js";
import type { Cell } from "../database.js";
import { isKeptHere } from "../moves/here.js";
import { hasTrueMac } from "../secrets/row-mac.js";
import type { OpenBook } from "../sql/book-directory.js";
import type { Read, Session } from "../sql/engine.js";
import { insertOf } from "../sql/insert.js";
import { type ListedOrganizationRow, organizationOf, type OrganizationRow } from "../sql/organization-rows.js";
import {
  apiKeyOf,
  type ApiKeyRow,
  apiKeyRowOf,
  contentOfApiKey,
  revokedAtByJournal,
} from "../sql/records/api-key-rows.js";
import { orStoreError, RefusedWriteError } from "../sql/store-error.js";
import type { Authorship } from "./authorship.js";
import { bookRowWrites, lockBook } from "./book-rows.js";
import { certificateHash, certificateKeys, GENERATIONS_READ, type ReadByHashes } from "./certificate-keys.js";
import { byMachine, commitNow } from "./commit-now.js";
import { insertOrganization } from "./new-organization.js";
import { keysOfBooks } from "./whole.js";

const SECRET_BYTES = 32;
const CONFLICT_TRIES_MAX = 20;

/** "moved": the organization of the key has left the cell. */
export type FoundKey = ApiKey | "moved" | undefined;

export function isKey(found: FoundKey): found is ApiKey {
  return found !== undefined && found !== "moved";
}

/** Somebody presents a key whose row was written or changed past the service. */
export type OnChangedKey = (id: ApiKeyId) => void;

/** The organizations and keys of one cell. */
export class CellKeys {
  readonly #cell: Cell;
  readonly #now: () => UnixMillis;
  readonly #onChangedKey: OnChangedKey;
  readonly #statements: ReturnType<typeof statementsOf>;

  constructor(cell: Cell, now: () => UnixMillis, onChangedKey: OnChangedKey = () => undefined) {
    this.#cell = cell;
    this.#now = now;
    this.#onChangedKey = onChangedKey;
    this.#statements = statementsOf(cell);
  }

  async createOrganization(name: string, isSandbox: boolean, author?: Authorship): Promise<Organization | Refusal> {
    const row: OrganizationRow = {
      id: typeidUnboxed("org"),
      name,
      is_sandbox: isSandbox ? 1 : 0,
      created_at: this.#now(),
    };
    for (let tries = 1; ; tries += 1) {
      try {
        const refusal = await this.#failing(insertOrganization(this.#cell, row, author));
        if (refusal !== undefined) return refusal;
        return {
          id: row.id as OrganizationId,
          cell: this.#cell.number,
          name,
          isSandbox,
          isSuspended: false,
          areReceiptsRequired: false,
          createdAt: toUnixMillis(row.created_at),
        };
      } catch (error) {
        // Another process took the number of the book.
        const isConflict = error instanceof StoreError && error.kind === "conflict";
        if (!isConflict || tries === CONFLICT_TRIES_MAX) throw error;
      }
    }
  }

  async organizations(): Promise<readonly FoundOrganization[]> {
    return this.#organizationsOf(await this.#rows<ListedOrganizationRow>(this.#statements.organizations));
  }

  /** Reads within a transaction. */
  async organizationsNamed(name: string, session: Session): Promise<readonly FoundOrganization[]> {
    const sql = `${this.#statements.organizations} AND o.name = ?`;
    const rows = await session.read<ListedOrganizationRow>({ sql, bindings: [name] });
    return this.#organizationsOf(rows, session);
  }

  async organization(id: OrganizationId): Promise<FoundOrganization | undefined> {
    const rows = await this.#rows<ListedOrganizationRow>(this.#statements.organization, [id]);
    return (await this.#organizationsOf(rows))[0];
  }

  async #organizationsOf(
    rows: readonly ListedOrganizationRow[],
    session?: Session,
  ): Promise<readonly FoundOrganization[]> {
    const keys = await this.#failing(
      keysOfBooks(
        this.#cell.directory,
        rows.map(({ id }) => id as OrganizationId),
        this.#reading(session),
      ),
    );
    return rows.map((row) => organizationOf(row, { cell: this.#cell.number, keys: keys.get(row.id) }));
  }

  #books(ids: readonly OrganizationId[], session?: Session): Promise<readonly OpenBook[]> {
    return this.#failing(this.#cell.directory.find(ids, this.#reading(session)));
  }

  #reading(session: Session | undefined) {
    const { reader } = this.#cell;
    return ({ sql, bindings }: Read) => session?.read({ sql, bindings }) ?? reader.rows(sql, bindings);
  }

  /** Makes the secret of a key that does not exist yet. */
  newSecret({ isSandbox }: Pick<Organization, "isSandbox">): { readonly secret: string; readonly sha256: string } {
    const kind = isSandbox ? "kesc_test_" : "kesc_";
    const secret = `${kind}${String(this.#cell.number)}_${randomBytes(SECRET_BYTES).toString("base64url")}`;
    return { secret, sha256: sha256(secret) };
  }

  /** Creates the key whose secret has this SHA-256, as the machine. */
  async createApiKey({ organizationId, name: label, ...key }: NewApiKey & { secretSha256: string }): Promise<ApiKey> {
    const newKeyId = typeidUnboxed("key") as string as ApiKeyId;
    const command = { name: "createApiKey", newKeyId, label, ...key, ...byMachine(organizationId) } as const;
    const { resource: acted } = await commitNow(this.#cell, command, this.#now());
    if (acted.resource === undefined) throw new Error("the machine needs no second person");
    return this.#keyOf(acted.resource);
  }

  /**
   * Creates a key for a name of a certificate, unless a valid key has it. `holderIn` finds the key
   * in the organizations of all cells. No other key is made for a certificate meanwhile.
   */
  async createCertificateKey(
    organizationId: OrganizationId,
    { certificateName: name, scopes, expiresAt }: NewCertificateKey,
    holderIn: (session: Session) => Promise<FoundKey>,
  ): ReturnType<Keys["createCertificateKey"]> {
    const first = async (session: Session): Promise<void> => {
      await session.read({ sql: this.#cell.engine.administrationLock, bindings: [] });
      const holder = await holderIn(session);
      if (isKey(holder) && isLive(holder, this.#now())) throw new CertificateHeldError(holder);
    };
    const hashOf = async (read: ReadByHashes): Promise<string> => {
      const { count } = await certificateKeys(name, read);
      return certificateHash(name, count);
    };
    try {
      return { key: await this.#insertApiKey({ organizationId, name, scopes, expiresAt }, { hashOf, first }) };
    } catch (error) {
      if (error instanceof CertificateHeldError) return { key: undefined, holder: error.holder };
      throw error;
    }
  }

  /**
   * Returns the last key that was made for this name of a certificate. A session reads it within
   * its transaction.
   */
  async newestCertificateKey(name: string, session?: Session): Promise<FoundKey> {
    const sql = this.#statements.apiKeysWithHashes;
    const { newest } = await certificateKeys(name, async (hashes) => {
      if (session === undefined) return this.#rows<PlacedKeyRow>(sql, hashes);
      return await session.read<PlacedKeyRow>({ sql, bindings: hashes });
    });
    return newest === undefined ? undefined : this.#foundKey(newest as PlacedKeyRow, session);
  }

  async #insertApiKey(
    { organizationId, name, scopes, expiresAt }: NewApiKey,
    {
      hashOf,
      first,
    }: {
      readonly hashOf: (read: ReadByHashes) => Promise<string>;
      readonly first: (session: Session) => Promise<void>;
    },
  ): Promise<ApiKey> {
    const key = await this.#failing(
      this.#cell.transact(async (session) => {
        await first(session);
        const book = await lockBook(this.#cell, session, { organizationId, now: this.#now() });
        const hash = await hashOf(async (bindings) => {
          const rows = await session.read({ sql: this.#statements.apiKeysWithHashes, bindings });
          return rows as readonly ApiKeyRow[];
        });
        const made: StoredApiKey = {
          id: typeidUnboxed("key") as string as ApiKeyId,
          organizationId,
          name,
          secretSha256: hash,
          scopes,
          createdAt: book.recordedAt,
          expiresAt,
          revokedAt: undefined,
        };
        const row = apiKeyRowOf(made, { ...book, seq: book.nextSeq, changedSeq: 0 });
        await session.write([
          ...bookRowWrites(this.#cell, book, { kind: "key.created", created: contentOfApiKey(made) }),
          insertOf(this.#cell.engine, "api_keys", [row]),
        ]);
        return made;
      }),
    );
    return this.#keyOf(key);
  }

  async apiKeys(organizationId: OrganizationId): Promise<readonly ApiKey[]> {
    const rows = await this.#rows<ApiKeyRow>(this.#statements.apiKeys, [organizationId]);
    return rows.map((row) => this.#apiKeyOf(row));
  }

  /** Returns the organization whose key it is. */
  async organizationOfKey(id: ApiKeyId): Promise<OrganizationId | undefined> {
    const [row] = await this.#rows<ApiKeyRow>(this.#statements.apiKey, [id]);
    return row?.organization_id as OrganizationId | undefined;
  }

  /** Revokes a key as the machine. Returns undefined if there is none. */
  async revokeApiKey(id: ApiKeyId): Promise<ApiKey | undefined> {
    const organizationId = await this.organizationOfKey(id);
    if (organizationId === undefined) return undefined;
    const command = { name: "revokeApiKey", keyId: id, ...byMachine(organizationId) } as const;
    const { resource: acted } = await commitNow(this.#cell, command, this.#now());
    return acted.resource && this.#keyOf(acted.resource);
  }

  async apiKeyWithSecret(secret: string): Promise<FoundKey> {
    const [row] = await this.#rows<PlacedKeyRow>(this.#statements.apiKeyWithSecret, [sha256(secret)]);
    return row === undefined ? undefined : this.#foundKey(row);
  }

  /**
   * A book that arrives has its keys already, but serves nobody before it is opened. A row that was
   * written or changed past the service is no key.
   */
  async #foundKey(row: PlacedKeyRow, session?: Session): Promise<FoundKey> {
    const { phase } = row;
    if (phase === "LEFT" || phase === "EMPTYING") return "moved";
    if (phase !== null && phase !== "LEAVING") return undefined;
    const id = row.organization_id as OrganizationId;
    const book = this.#cell.directory.get(id) ?? (await this.#books([id], session))[0];
    if (book !== undefined && hasTrueMac(book.keys, API_KEYS, row)) return this.#apiKeyOf(row);
    this.#onChangedKey(row.id as ApiKeyId);
    return undefined;
  }

  #keyOf({ id, organizationId, name, scopes, createdAt, expiresAt, revokedAt }: StoredApiKey): ApiKey {
    const { number: cell } = this.#cell;
    return { id, organizationId, cell, name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt: undefined };
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

/** A valid key has the name of the certificate. */
class CertificateHeldError extends RefusedWriteError {
  constructor(readonly holder: ApiKey) {
    super(`${holder.id} has the name of the certificate`);
  }
}

/** A key, and where a move of its organization's book stands. */
type PlacedKeyRow = ApiKeyRow & { readonly phase: string | null };

function statementsOf({ engine }: Pick<Cell, "engine">) {
  const { table } = engine;
  const apiKeys = table("api_keys");
  const isHere = isKeptHere({ table });
  const organizations = `
    SELECT o.*, b.suspended_seq, b.receipts_required_seq
    FROM ${table("organizations")} o LEFT JOIN ${table("books")} b ON b.organization_id = o.id WHERE ${isHere}`;
  const keys = `
    SELECT k.*, m.phase, ${revokedAtByJournal(engine)} FROM ${apiKeys} k
    LEFT JOIN ${table("books")} b ON b.organization_id = k.organization_id
    LEFT JOIN ${table("book_moves")} m ON m.book = b.number`;
  return {
    organizations,
    organization: `${organizations} AND o.id = ?`,
    apiKeys: `${keys} WHERE k.organization_id = ? AND ${isHere} ORDER BY k.created_at, k.id`,
    apiKey: `${keys} WHERE k.id = ? AND ${isHere}`,
    apiKeyWithSecret: `${keys} WHERE k.secret_sha256 = ?`,
    apiKeysWithHashes: `${keys} WHERE k.secret_sha256 IN (${Array(GENERATIONS_READ).fill("?").join(", ")})`,
  };
}

function sha256(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
