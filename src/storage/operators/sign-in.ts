import type { KeyObject } from "node:crypto";

import { typeidUnboxed } from "typeid-js";

import type { UnixMillis } from "../../domain/values/time.js";
import { changedNamesOf, typesOf } from "../../model/column.js";
import { SESSIONS } from "../../model/database.js";
import { type PasskeyCredential, passkeySha256 } from "../../operators/passkeys.js";
import {
  hasEnded,
  needsUse,
  type OperatorSession,
  SESSION_IDLE_MILLIS_MAX,
  SESSION_MILLIS_MAX,
} from "../../operators/session.js";
import type { NewSession, SignInStore, SignInToken, TokenOf, UsedOnce } from "../../operators/sign-in-ports.js";
import type { Cell } from "../database.js";
import { signInMac } from "../secrets/operator-key.js";
import type { Binding, Session } from "../sql/engine.js";
import { insertOf } from "../sql/insert.js";
import { inTransaction, orStoreError } from "../sql/store-error.js";
import type { StoredAdministration } from "./administration.js";
import { OperatorChain } from "./operator-chain.js";
import { RefusedActError } from "./refused.js";
import {
  rowOfToken,
  sessionFields,
  sessionOf,
  type SessionRow,
  tokenFields,
  tokenOf,
  type TokenRow,
} from "./sign-in-rows.js";

/** The sessions of one operator. */
const SESSIONS_MAX = 10;
/** A passkey whose proposal has lapsed is removed. */
const UNNAMED_MILLIS_MAX = 4 * 86_400_000;

type SessionChanges = Partial<Pick<SessionRow, "used_at" | "verified_at">>;

type People = Pick<StoredAdministration, "operator" | "operatorWithPasskey" | "submit">;

/** Implements the port `SignInStore` in the first cell. */
export class StoredSignIn implements SignInStore {
  readonly #cell: Cell;
  readonly #people: People;
  readonly #now: () => UnixMillis;
  readonly #chain: OperatorChain;
  readonly #selectSession: string;
  readonly #selectToken: string;

  constructor(cell: Cell, people: People, now: () => UnixMillis) {
    this.#cell = cell;
    this.#people = people;
    this.#now = now;
    this.#chain = new OperatorChain(cell);
    const { table, hex } = cell.engine;
    this.#selectSession = `
      SELECT id, token_sha256, operator_id, began_with, created_at, used_at, verified_at, ${hex("mac")} AS mac
      FROM ${table("sessions")}`;
    this.#selectToken = `
      SELECT token_sha256, kind, content, created_at, expires_at, ${hex("mac")} AS mac
      FROM ${table("sign_in_tokens")}`;
  }

  readonly operator: SignInStore["operator"] = (id) => this.#people.operator(id);
  readonly operatorWithPasskey: SignInStore["operatorWithPasskey"] = (sha256) =>
    this.#people.operatorWithPasskey(sha256);

  async macOf(subject: string, fields: readonly (string | number)[]): Promise<string | undefined> {
    const key = await this.#key();
    return key && signInMac(key, subject, fields);
  }

  async passkey(credentialId: string): Promise<PasskeyCredential | undefined> {
    const sql = `SELECT public_key FROM ${this.#cell.engine.table("passkeys")} WHERE credential_id = ?`;
    const [row] = await this.#rows<{ readonly public_key: Uint8Array }>(sql, [credentialId]);
    return row && { credentialId, publicKey: Uint8Array.from(row.public_key) };
  }

  async credentialIds(sha256s: readonly string[]): Promise<readonly string[]> {
    const sql = `SELECT credential_id FROM ${this.#cell.engine.table("passkeys")} WHERE sha256 = ?`;
    const found = await Promise.all(
      sha256s.map((sha256) => this.#rows<{ readonly credential_id: string }>(sql, [sha256])),
    );
    return found.flat().map(({ credential_id: id }) => id);
  }

  async token<Kind extends SignInToken["kind"]>(kind: Kind, sha256: string): Promise<TokenOf<Kind> | undefined> {
    const [row] = await this.#rows<TokenRow>(`${this.#selectToken} WHERE token_sha256 = ?`, [sha256]);
    const key = await this.#key();
    return row?.kind === kind && this.#isLiveToken(key, row) ? (tokenOf(row) as TokenOf<Kind>) : undefined;
  }

  addToken(token: SignInToken, max: number): Promise<void> {
    return this.#change(async (session, key) => {
      const sql = `${this.#selectToken} WHERE kind = ? ORDER BY created_at DESC, token_sha256`;
      const rows = await session.read<TokenRow>({ sql, bindings: [token.kind] });
      const own = rows.filter((row) => this.#isLiveToken(key, row) && tokenOf(row).owner === token.owner);
      for (const { token_sha256: sha256 } of own.slice(max - 1)) await this.#removeToken(session, sha256);
      await this.#insertToken(session, key, rowOfToken(token));
    });
  }

  begin(given: NewSession, used: UsedOnce): Promise<OperatorSession | undefined> {
    return this.#change(async (session, key) => {
      if (!(await this.#useUp(session, key, used))) return undefined;
      const { engine } = this.#cell;
      const ofOperator = `SELECT id FROM ${engine.table("sessions")} WHERE operator_id = ?`;
      const oldest = `id IN (${ofOperator} ORDER BY used_at DESC, id DESC LIMIT ? OFFSET ?)`;
      await this.#remove(session, "sessions", oldest, [given.operatorId, Number.MAX_SAFE_INTEGER, SESSIONS_MAX - 1]);
      const now = this.#now();
      const row = withMac(key, {
        id: typeidUnboxed("ses"),
        token_sha256: given.tokenSha256,
        operator_id: given.operatorId,
        began_with: given.beganWith,
        created_at: now,
        used_at: now,
        verified_at: given.isVerified ? now : null,
      });
      await session.write([insertOf(engine, "sessions", [row])]);
      return sessionOf(row);
    });
  }

  verify(id: string, used: UsedOnce): Promise<OperatorSession | undefined> {
    return this.#change(async (session, key) => {
      if (!(await this.#useUp(session, key, used))) return undefined;
      const now = this.#now();
      return this.#update(session, key, id, () => ({ used_at: now, verified_at: now }));
    });
  }

  async use(id: string): Promise<void> {
    const now = this.#now();
    await this.#change((session, key) =>
      // Calls that arrive together write one use.
      this.#update(session, key, id, (found) => (needsUse(found, now) ? { used_at: now } : undefined)),
    );
  }

  end(id: string): Promise<boolean> {
    return this.#change((session) => this.#remove(session, "sessions", "id = ?", [id]));
  }

  async sessions(): Promise<readonly OperatorSession[]> {
    const rows = await this.#rows<SessionRow>(`${this.#selectSession} ORDER BY created_at, id`);
    const key = await this.#key();
    return rows
      .filter((row) => isOurs(key, row))
      .map(sessionOf)
      .filter((each) => !hasEnded(each, this.#now()));
  }

  async session(tokenSha256: string): Promise<OperatorSession | undefined> {
    const [row] = await this.#rows<SessionRow>(`${this.#selectSession} WHERE token_sha256 = ?`, [tokenSha256]);
    return row !== undefined && isOurs(await this.#key(), row) ? sessionOf(row) : undefined;
  }

  readonly register: SignInStore["register"] = (act, by, { passkey, invitationSha256 }) => {
    return this.#people.submit(act, by, async (session) => {
      const key = await this.#chain.keyIn(session);
      const [row] = await this.#tokenRow(session, invitationSha256);
      const { engine } = this.#cell;
      const { table } = engine;
      const known = await session.read({
        sql: `SELECT 1 FROM ${table("passkeys")} WHERE credential_id = ?`,
        bindings: [passkey.credentialId],
      });
      if (row === undefined || known.length > 0 || !this.#isLiveToken(key, row)) {
        throw new RefusedActError({ reason: "SIGN_IN_REFUSED" });
      }
      await this.#removeToken(session, invitationSha256);
      const now = this.#now();
      const named = `SELECT passkey_sha256 FROM ${table("operator_acts")} WHERE passkey_sha256 IS NOT NULL`;
      const unnamed = `created_at < ? AND sha256 NOT IN (${named})`;
      await this.#remove(session, "passkeys", unnamed, [now - UNNAMED_MILLIS_MAX]);
      const { credentialId, publicKey } = passkey;
      const stored = {
        sha256: passkeySha256(passkey),
        credential_id: credentialId,
        public_key: Buffer.from(publicKey).toString("hex"),
        created_at: now,
      };
      await session.write([insertOf(engine, "passkeys", [stored])]);
    });
  };

  /** Runs a change after all others about people, without the rows whose time has ended. */
  #change<Result>(work: (session: Session, key: KeyObject) => Promise<Result>): Promise<Result> {
    const { engine } = this.#cell;
    return inTransaction(this.#cell, async (session) => {
      await session.read({ sql: engine.administrationLock, bindings: [] });
      const now = this.#now();
      await this.#remove(session, "sessions", "created_at < ? OR used_at < ?", [
        now - SESSION_MILLIS_MAX,
        now - SESSION_IDLE_MILLIS_MAX,
      ]);
      await this.#remove(session, "sign_in_tokens", "expires_at < ?", [now]);
      return work(session, await this.#chain.keyIn(session));
    });
  }

  /** Returns whether the code or the challenge was not used before. */
  async #useUp(session: Session, key: KeyObject, { kind, sha256, expiresAt }: UsedOnce): Promise<boolean> {
    const [row] = await this.#tokenRow(session, sha256);
    if (kind === "code") {
      await this.#removeToken(session, sha256);
      return row?.kind === "code" && this.#isLiveToken(key, row);
    }
    if (row !== undefined) return false;
    const created = { created_at: this.#now(), expires_at: Math.max(expiresAt, this.#now() + 1) };
    await this.#insertToken(session, key, { token_sha256: sha256, kind, content: "{}", ...created });
    return true;
  }

  async #update(
    session: Session,
    key: KeyObject,
    id: string,
    changesOf: (found: OperatorSession) => SessionChanges | undefined,
  ): Promise<OperatorSession | undefined> {
    const { table, update } = this.#cell.engine;
    const [found] = await session.read<SessionRow>({ sql: `${this.#selectSession} WHERE id = ?`, bindings: [id] });
    if (found === undefined || !isOurs(key, found)) return undefined;
    const changes = changesOf(sessionOf(found));
    if (changes === undefined) return undefined;
    const row = withMac(key, { ...found, ...changes });
    const columns = typesOf(SESSIONS, ["id", ...changedNamesOf(SESSIONS)]);
    await session.write([{ sql: update(table("sessions"), { key: "id", columns }), rows: [row] }]);
    return sessionOf(row);
  }

  #tokenRow(session: Session, sha256: string): Promise<readonly TokenRow[]> {
    return session.read({ sql: `${this.#selectToken} WHERE token_sha256 = ?`, bindings: [sha256] });
  }

  async #insertToken(session: Session, key: KeyObject, token: Omit<TokenRow, "mac">): Promise<void> {
    const row = { ...token, mac: signInMac(key, "token", tokenFields(token)) };
    await session.write([insertOf(this.#cell.engine, "sign_in_tokens", [row])]);
  }

  #removeToken(session: Session, sha256: string): Promise<boolean> {
    return this.#remove(session, "sign_in_tokens", "token_sha256 = ?", [sha256]);
  }

  /** Returns whether there was such a row. */
  async #remove(
    session: Session,
    table: "sessions" | "sign_in_tokens" | "passkeys",
    wanted: string,
    bindings: readonly Binding[],
  ): Promise<boolean> {
    const sql = `DELETE FROM ${this.#cell.engine.table(table)} WHERE ${wanted} RETURNING 1 AS removed`;
    return (await session.read({ sql, bindings })).length > 0;
  }

  #isLiveToken(key: KeyObject | undefined, row: TokenRow): boolean {
    return key !== undefined && row.mac === signInMac(key, "token", tokenFields(row)) && this.#now() <= row.expires_at;
  }

  #key(): Promise<KeyObject | undefined> {
    return orStoreError(
      this.#cell.engine,
      this.#chain.key(({ sql, bindings }) => this.#cell.reader.rows(sql, bindings)),
    );
  }

  #rows<Row>(sql: string, bindings: readonly Binding[] = []): Promise<readonly Row[]> {
    return orStoreError(this.#cell.engine, this.#cell.reader.rows<Row>(sql, bindings));
  }
}

function withMac(key: KeyObject, row: Omit<SessionRow, "mac">): SessionRow {
  return { ...row, mac: signInMac(key, "session", sessionFields(row)) };
}

function isOurs(key: KeyObject | undefined, row: SessionRow): boolean {
  return key !== undefined && row.mac === signInMac(key, "session", sessionFields(row));
}
