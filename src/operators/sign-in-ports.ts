import type { Acted } from "../domain/authority.js";
import type { Operator, OperatorName, Role } from "../domain/operator.js";
import type { AddPasskey } from "../domain/people/add-passkey.js";
import type { CreateOperator } from "../domain/people/create-operator.js";
import type { OperatorId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { Outcome } from "../ledger/ports/outcome.js";
import type { PasskeyCredential } from "./passkeys.js";
import type { OperatorSession } from "./session.js";

/** Whom an invitation is for: a new operator, or one who exists. */
export type Invited =
  { readonly name: OperatorName; readonly roles: readonly Role[] } | { readonly operatorId: OperatorId };

/** For what a token is. */
export type TokenContent =
  | {
      readonly kind: "invitation";
      /** Who made it. "operator" is the machine. */
      readonly owner: string;
      readonly invited: Invited;
    }
  | {
      readonly kind: "code";
      readonly owner: OperatorId;
      /** The SHA-256 of the key with which it was made. */
      readonly keySha256: string;
    };

/** A one-time token. The database has its SHA-256. */
export type SignInToken = TokenContent & {
  readonly sha256: string;
  readonly createdAt: UnixMillis;
  readonly expiresAt: UnixMillis;
};

/** What a person uses up to sign in: a code, or the challenge of a response. */
export interface UsedOnce {
  readonly kind: "code" | "challenge";
  readonly sha256: string;
}

/** A session that begins now. */
export interface NewSession {
  readonly tokenSha256: string;
  readonly operatorId: OperatorId;
  readonly beganWith: string;
  readonly isVerified: boolean;
}

/**
 * The rows of passkeys, sessions and tokens. A row that the database alone could have made is none.
 * Every call rejects with a StoreError if the database fails.
 */
export interface SignInStore {
  /** Returns the `mac` of a challenge. Undefined before the first row about operators. */
  challengeMac(head: Uint8Array, purpose: string): Promise<Buffer | undefined>;
  passkey(credentialId: string): Promise<PasskeyCredential | undefined>;
  credentialIds(sha256s: readonly string[]): Promise<readonly string[]>;
  /** Returns a token that has not ended. */
  token(sha256: string): Promise<SignInToken | undefined>;
  /** Stores a token. The owner keeps the newest `max` of the kind. */
  addToken(token: SignInToken, max: number): Promise<void>;
  /** Begins a session. Returns undefined if the code or the challenge was used. */
  begin(session: NewSession, used: UsedOnce): Promise<OperatorSession | undefined>;
  /** Notes that a passkey has verified a session now. Returns undefined as `begin` does. */
  verify(id: string, used: UsedOnce): Promise<OperatorSession | undefined>;
  /** Notes that a session was used now. */
  use(id: string): Promise<void>;
  /** Returns whether there was such a session. */
  end(id: string): Promise<boolean>;
  /** Returns the sessions whose time has not ended, oldest first. */
  sessions(): Promise<readonly OperatorSession[]>;
  session(tokenSha256: string): Promise<OperatorSession | undefined>;
  /**
   * Stores a passkey, uses the invitation up, and does or proposes the act, in one transaction.
   * Refuses SIGN_IN_REFUSED if the invitation was used meanwhile, or if the passkey is known.
   */
  register(
    command: CreateOperator | AddPasskey,
    given: { readonly passkey: PasskeyCredential; readonly invitationSha256: string },
  ): Promise<Outcome<Acted<Operator>>>;
}
