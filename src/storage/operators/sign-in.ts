import { typeidUnboxed } from "typeid-js";

import type { UnixMillis } from "../../domain/values/time.js";
import { changedNamesOf, typesOf } from "../../model/column.js";
import { SESSIONS } from "../../model/database.js";
import { MODEL } from "../../model/tables.js";
import { type PasskeyCredential, passkeySha256 } from "../../operators/passkeys.js";
import {
  hasEnded,
  needsUse,
  type OperatorSession,
  SESSION_IDLE_MILLIS_MAX,
  SESSION_MILLIS_MAX,
} from "../../operators/session.js";
import type { NewSession, SignInStore, SignInToken, UsedOnce } from "../../operators/sign-in-ports.js";
import type { Cell } from "../database.js";
import { signInMac } from "../secrets/operator-key.js";
import type { Binding, Session } from "../sql/engine.js";
import { insertOf } from "../sql/insert.js";
import { inTransaction, readRows } from "../sql/store-error.js";
import { OperatorChain } from "./operator-chain.js";
import {
  isOurs,
  rowOfToken,
  selectOf,
  sessionOf,
  type SessionRow,
  type SignInRows,
  tokenOf,
  type TokenRow,
  withMac,
} from "./sign-in-rows.js";
import type { StoredPeople } from "./stored-people.js";

/** The sessions of one operator. */
const SESSIONS_MAX = 10;
/** A passkey whose proposal has lapsed is removed. */
const UNNAMED_MILLIS_MAX = 4 * 86_400_000;

/** A condition, and what it binds. */
type Wanted = readonly [wanted: string, bindings: readonly Binding[], session?: Session];

type SessionChanges = Partial<Pick<SessionRow, "used_at" | "verified_at">>;

/** Implements the port `SignInStore` in the first cell. */
export class StoredSignIn implements SignInStore {
  readonly #cell: Cell;
  readonly #people: StoredPeople;
  readonly #now: () => UnixMillis;
  readonly #chain: OperatorChain;

  constructor(cell: Cell, people: StoredPeople, now: () => UnixMillis) {
    this.#cell = cell;
    this.#people = people;
    this.#now = now;
    this.#chain = new OperatorChain(cell);
  }

  async challengeMac(head: Uint8Array, purpose: string): Promise<Buffer | undefined> {
    const key = await this.#chain.key();
    const fields = [Buffer.from(head).toString("hex"), purpose];
    return key && Buffer.from(signInMac(key, "challenge", fields), "hex");
  }

  async passkey(credentialId: string): Promise<PasskeyCredential | undefined> {
    const sql = `SELECT public_key FROM ${this.#cell.engine.table("passkeys")} WHERE credential_id = ?`;
    const [row] = await readRows<{ readonly public_key: Uint8Array }>(this.#cell, sql, [credentialId]);
    return row && { credentialId, publicKey: Uint8Array.from(row.public_key) };
  }

  async credentialIds(sha256s: readonly string[]): Promise<readonly string[]> {
    const sql = `SELECT credential_id AS id FROM ${this.#cell.engine.table("passkeys")} WHERE sha256 = ?`;
    const found = sha256s.map((sha256) => readRows<{ readonly id: string }>(this.#cell, sql, [sha256]));
    return (await Promise.all(found)).flat().map(({ id }) => id);
  }

  async token(sha256: string): Promise<SignInToken | undefined> {
    const [row] = await this.#liveTokens("token_sha256 = ?", [sha256]);
    return row && tokenOf(row);
  }

  addToken(token: SignInToken, max: number): Promise<void> {
    return this.#change(async (session) => {
      const wanted = "kind = ? ORDER BY created_at DESC, token_sha256";
      const rows = await this.#liveTokens(wanted, [token.kind], session);
      const own = rows.filter((row) => tokenOf(row).owner === token.owner);
      for (const { token_sha256: sha256 } of own.slice(max - 1)) await this.#removeToken(session, sha256);
      await this.#insertToken(session, rowOfToken(token));
    });
  }

  begin(given: NewSession, used: UsedOnce): Promise<OperatorSession | undefined> {
    return this.#change(async (session) => {
      if (!(await this.#useUp(session, used))) return undefined;
      const { engine } = this.#cell;
      const ofOperator = `SELECT id FROM ${engine.table("sessions")} WHERE operator_id = ?`;
      const oldest = `id IN (${ofOperator} ORDER BY used_at DESC, id DESC LIMIT ? OFFSET ?)`;
      const beyond = [given.operatorId, Number.MAX_SAFE_INTEGER, SESSIONS_MAX - 1];
      const pushedOut = await this.#remove(session, "sessions", oldest, beyond);
      for (const id of pushedOut) await this.#chain.end(session, `session:${id}`);
      const now = this.#now();
      const row = withMac(await this.#chain.keyIn(session), "session", {
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
    return this.#change(async (session) => {
      if (!(await this.#useUp(session, used))) return undefined;
      const now = this.#now();
      return this.#update(session, id, () => ({ used_at: now, verified_at: now }));
    });
  }

  async use(id: string): Promise<void> {
    const now = this.#now();
    await this.#change((session) =>
      // Calls that arrive together write one use.
      this.#update(session, id, (found) => (needsUse(found, now) ? { used_at: now } : undefined)),
    );
  }

  end(id: string): Promise<boolean> {
    return this.#change(async (session) => {
      const found = await this.#remove(session, "sessions", "id = ?", [id]);
      return found.length > 0 && this.#chain.end(session, `session:${id}`);
    });
  }

  async sessions(): Promise<readonly OperatorSession[]> {
    const rows = await this.#ownRows("session", "1 = 1 ORDER BY created_at, id", []);
    return rows.map(sessionOf).filter((each) => !hasEnded(each, this.#now()));
  }

  async session(tokenSha256: string): Promise<OperatorSession | undefined> {
    const [row] = await this.#ownRows("session", "token_sha256 = ?", [tokenSha256]);
    return row && sessionOf(row);
  }

  readonly register: SignInStore["register"] = (command, { passkey, invitationSha256 }) => {
    const { engine } = this.#cell;
    const passkeys = engine.table("passkeys");
    return this.#people.submit(command, {
      refusal: async (session) => {
        const [invitation] = await this.#liveTokens("token_sha256 = ?", [invitationSha256], session);
        const sql = `SELECT 1 FROM ${passkeys} WHERE credential_id = ?`;
        const known = await session.read({ sql, bindings: [passkey.credentialId] });
        return invitation === undefined || known.length > 0 ? { reason: "SIGN_IN_REFUSED" } : undefined;
      },
      write: async (session) => {
        await this.#removeToken(session, invitationSha256);
        await this.#chain.end(session, `used:${invitationSha256}`);
        const now = this.#now();
        const named = `SELECT passkey_sha256 FROM ${engine.table("operator_acts")} WHERE passkey_sha256 IS NOT NULL`;
        const unnamed = `created_at < ? AND sha256 NOT IN (${named})`;
        await this.#remove(session, "passkeys", unnamed, [now - UNNAMED_MILLIS_MAX]);
        const stored = {
          sha256: passkeySha256(passkey),
          credential_id: passkey.credentialId,
          public_key: Buffer.from(passkey.publicKey).toString("hex"),
          created_at: now,
        };
        await session.write([insertOf(engine, "passkeys", [stored])]);
      },
    });
  };

  /** Runs a change after all others about people, without the rows whose time has ended. */
  #change<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    const { engine } = this.#cell;
    return inTransaction(this.#cell, async (session) => {
      await session.read({ sql: engine.administrationLock, bindings: [] });
      const now = this.#now();
      await this.#remove(session, "sessions", "created_at < ? OR used_at < ?", [
        now - SESSION_MILLIS_MAX,
        now - SESSION_IDLE_MILLIS_MAX,
      ]);
      await this.#remove(session, "sign_in_tokens", "expires_at < ?", [now]);
      return work(session);
    });
  }

  /** Returns whether the code or the challenge was not used before. */
  async #useUp(session: Session, { kind, sha256 }: UsedOnce): Promise<boolean> {
    if (kind === "code") {
      const [row] = await this.#liveTokens("token_sha256 = ?", [sha256], session);
      await this.#removeToken(session, sha256);
      if (row?.kind !== "code") return false;
    }
    return this.#chain.end(session, `used:${sha256}`);
  }

  async #update(
    session: Session,
    id: string,
    changesOf: (found: OperatorSession) => SessionChanges | undefined,
  ): Promise<OperatorSession | undefined> {
    const [found] = await this.#ownRows("session", "id = ?", [id], session);
    const changes = found && changesOf(sessionOf(found));
    if (found === undefined || changes === undefined) return undefined;
    const row = withMac(await this.#chain.keyIn(session), "session", { ...found, ...changes });
    const { table, update } = this.#cell.engine;
    const columns = typesOf(SESSIONS, ["id", ...changedNamesOf(SESSIONS)]);
    await session.write([{ sql: update(table("sessions"), { key: "id", columns }), rows: [row] }]);
    return sessionOf(row);
  }

  async #insertToken(session: Session, token: Omit<TokenRow, "mac">): Promise<void> {
    const row = withMac(await this.#chain.keyIn(session), "token", token);
    await session.write([insertOf(this.#cell.engine, "sign_in_tokens", [row])]);
  }

  async #removeToken(session: Session, sha256: string): Promise<void> {
    await this.#remove(session, "sign_in_tokens", "token_sha256 = ?", [sha256]);
  }

  /** Returns the keys of the rows that it has removed. */
  async #remove(
    session: Session,
    table: "sessions" | "sign_in_tokens" | "passkeys",
    wanted: string,
    bindings: readonly Binding[],
  ): Promise<readonly string[]> {
    const [key] = MODEL[table].key;
    const sql = `DELETE FROM ${this.#cell.engine.table(table)} WHERE ${wanted} RETURNING ${key} AS removed`;
    const rows = await session.read<{ readonly removed: string }>({ sql, bindings });
    return rows.map(({ removed }) => removed);
  }

  async #liveTokens(...read: Wanted): Promise<readonly TokenRow[]> {
    return (await this.#ownRows("token", ...read)).filter((row) => this.#now() <= row.expires_at);
  }

  /** Returns those of the wanted rows that the service wrote as they are. */
  async #ownRows<Kind extends keyof SignInRows>(
    kind: Kind,
    ...[wanted, bindings, session]: Wanted
  ): Promise<readonly SignInRows[Kind][]> {
    const sql = `${selectOf(kind, this.#cell.engine)} AND ${wanted}`;
    const rows = await readRows<SignInRows[Kind]>(this.#cell, sql, bindings, session);
    const key = await this.#chain.key(session);
    return rows.filter((row) => isOurs(key, kind, row));
  }
}
