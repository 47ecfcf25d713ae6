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
import { type ListedOrganizationRow, organizationOf, type OrganizationRow } from "../sql/organization-rows.js";
import { apiKeyOf, type ApiKeyRow, revokedAtByJournal } from "../sql/records/api-key-rows.js";
import { orStoreError, readRows } from "../sql/store-error.js";
import { certificateHash, certificateKeys, GENERATIONS_READ } from "./certificate-keys.js";
import { byMachine, mustCommit } from "./commit-now.js";
import { type Authorship, insertOrganization } from "./new-organization.js";
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

  /**
   * Creates the key whose secret has this SHA-256, as the machine. Returns the key that has it, if
   * one of the organization does.
   */
  async createApiKey({
    organizationId,
    name: label,
    ...key
  }: NewApiKey & { secretSha256: string }): Promise<{ readonly key: ApiKey; readonly isNew: boolean }> {
    const newKeyId = typeidUnboxed("key") as string as ApiKeyId;
    const command = { name: "createApiKey", newKeyId, label, ...key, ...byMachine(organizationId) } as const;
    const { resource: acted, replayed } = await mustCommit(this.#cell, command, this.#now());
    if (acted.resource === undefined) throw new Error("the machine needs no second person");
    return { key: this.#keyOf(acted.resource), isNew: !replayed };
  }

  /**
   * Creates a key for a name of a certificate, unless a valid key has it. `holderIn` finds the key
   * in the organizations of all cells. No other key is made for the name meanwhile.
   */
  async createCertificateKey(
    organizationId: OrganizationId,
    { certificateName: name, scopes, expiresAt }: NewCertificateKey,
    holderIn: (session?: Session) => Promise<FoundKey>,
  ): ReturnType<Keys["createCertificateKey"]> {
    return this.#oneAtATime(async (session) => {
      for (let tries = 1; ; tries += 1) {
        const held = await holderIn(session);
        if (isKey(held) && isLive(held, this.#now())) return { key: undefined, holder: held };
        const { count } = await this.#keysOfCertificate(name, session);
        const secretSha256 = certificateHash(name, count);
        try {
          const made = await this.createApiKey({ organizationId, name, scopes, expiresAt, secretSha256 });
          if (made.isNew) return { key: made.key };
        } catch (error) {
          // Another process has made the key of this hash.
          const isTaken = error instanceof StoreError && error.kind !== "unavailable";
          if (!isTaken || tries === CONFLICT_TRIES_MAX) throw error;
        }
      }
    });
  }

  /**
   * The hash of the next key is unique in the cell, but not in all cells of PostgreSQL. There a
   * lock keeps others away. SQLite has one cell, and its lock would keep the ledger away as well.
   * The work reads in the session: the ledger commits by a connection of its own.
   */
  async #oneAtATime<Result>(work: (session?: Session) => Promise<Result>): Promise<Result> {
    const { engine, transact } = this.#cell;
    if (engine.name === "sqlite") return work();
    return this.#failing(
      transact(async (session) => {
        await session.read({ sql: engine.administrationLock, bindings: [] });
        return work(session);
      }),
    );
  }

  /** Returns the last key that was made for this name of a certificate. */
  async newestCertificateKey(name: string, session?: Session): Promise<FoundKey> {
    const { newest } = await this.#keysOfCertificate(name, session);
    return newest === undefined ? undefined : this.#foundKey(newest as PlacedKeyRow, session);
  }

  #keysOfCertificate(name: string, session?: Session): ReturnType<typeof certificateKeys> {
    const sql = this.#statements.apiKeysWithHashes;
    return certificateKeys(name, (bindings) => readRows<PlacedKeyRow>(this.#cell, sql, bindings, session));
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
