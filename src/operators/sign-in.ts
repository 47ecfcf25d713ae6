import { hash } from "node:crypto";

import { Turns } from "../../runtime/turns.js";
import { hasRoleSince, type Operator, type PasskeyId, passkeyIdOf } from "../domain/operator.js";
import { PROPOSING_ROLES } from "../domain/people/people.js";
import type { Proposal } from "../domain/proposal.js";
import { OPERATOR } from "../domain/values/actor.js";
import type { OperatorId } from "../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { Outcome } from "../ledger/ports/outcome.js";
import { ofHouse } from "./authority.js";
import { challengeIn, newChallenge } from "./challenge.js";
import { type PasskeyChecks, passkeySha256, readResponse } from "./passkeys.js";
import type { Administration } from "./ports.js";
import {
  type CallingOperator,
  hasEnded,
  holdsFor,
  kindOfToken,
  needsUse,
  newToken,
  type OperatorSession,
  tokenSha256Of,
} from "./session.js";
import type { Invited, NewSession, SignInStore, TokenContent, UsedOnce } from "./sign-in-ports.js";

/** `max`: how many an owner has at once. */
const INVITATION = { token: "inv", millis: 3_600_000, max: 20, page: "/invitation#" } as const;
const CODE = { token: "code", millis: 300_000, max: 5, page: "/sign-in?code=" } as const;
/** To check a signature takes the processor about a millisecond. */
const CHECKS_RUNNING_MAX = 2;
const CHECKS_WAITING_MAX = 100;

/** A result, or a refusal of the AdminService. */
export type OrRefused<Result> =
  { readonly kind: "done"; readonly value: Result } | Extract<Outcome<never>, { readonly kind: "refused" }>;

/** A token that only its caller ever sees. */
export interface GivenToken {
  readonly token: string;
  /** The page of the console that takes it. */
  readonly link: string;
  readonly expiresAt: UnixMillis;
}

/** A person who has signed in. */
export interface SignedIn {
  readonly token: string;
  readonly session: OperatorSession;
  readonly operator: Operator;
}

export interface SignInOptions {
  readonly store: SignInStore;
  readonly operators: Pick<Administration, "fourEyes" | "operator" | "operators" | "operatorWithPasskey">;
  readonly passkeys: PasskeyChecks;
  readonly now: () => number;
}

const REFUSED = { kind: "refused", refusal: { reason: "SIGN_IN_REFUSED" } } as const;
const BUSY = { kind: "refused", refusal: { reason: "QUEUE_FULL" } } as const;

/** Who signs in, and with what (docs/adr/0069). */
export class SignIn {
  readonly #store: SignInStore;
  readonly #operators: SignInOptions["operators"];
  readonly #passkeys: PasskeyChecks;
  readonly #clock: () => number;
  readonly #checks = new Turns<string>({ runningMax: CHECKS_RUNNING_MAX, waitingMax: CHECKS_WAITING_MAX });

  constructor({ store, operators, passkeys, now }: SignInOptions) {
    this.#store = store;
    this.#operators = operators;
    this.#passkeys = passkeys;
    this.#clock = now;
  }

  /** Returns options for a browser, as JSON. Without an invitation they are those to sign in. */
  async begin(invitation?: string): Promise<OrRefused<string>> {
    if (invitation === undefined) {
      return done(await this.#passkeys.requestOptions(await newChallenge(this.#asks(""))));
    }
    const found = await this.#invitation(invitation);
    if (found === undefined) return REFUSED;
    const { token, operator, name } = found;
    const challenge = await newChallenge(this.#asks(token.sha256));
    const credentialIds = await this.#store.credentialIds(operator?.passkeys.map(({ sha256 }) => sha256) ?? []);
    // The handle of a person who has no id yet is random, as that of an invitation is.
    const userId = Buffer.from(hash("sha256", operator?.id ?? token.sha256, "hex"), "hex");
    return done(await this.#passkeys.creationOptions(challenge, { name, userId, credentialIds }));
  }

  /** Says for whom a code or an invitation is. Does not use it up. */
  async describe(text: string): Promise<OrRefused<{ readonly operatorName: string; readonly expiresAt: UnixMillis }>> {
    const found = kindOfToken(text) === "inv" ? await this.#invitation(text) : await this.#code(text);
    if (found === undefined) return REFUSED;
    return done({ operatorName: found.name, expiresAt: found.token.expiresAt });
  }

  async withCode(text: string): Promise<OrRefused<SignedIn>> {
    const found = await this.#code(text);
    if (found === undefined) return REFUSED;
    const { sha256, keySha256: beganWith } = found.token;
    return this.#beginSession(found.operator, { beganWith, isVerified: false }, { kind: "code", sha256 });
  }

  async withPasskey(responseJson: string): Promise<OrRefused<SignedIn>> {
    const checked = await this.#check(responseJson);
    if ("kind" in checked) return checked;
    const { operator, sha256, used } = checked;
    return this.#beginSession(operator, { beganWith: sha256, isVerified: true }, used);
  }

  /** Makes a session fresh. One that a code began never is. */
  async verify(session: OperatorSession, responseJson: string): Promise<OrRefused<OperatorSession>> {
    if (session.verifiedAt === undefined) return REFUSED;
    const checked = await this.#check(responseJson);
    if ("kind" in checked) return checked;
    if (checked.operator.id !== session.operatorId) return REFUSED;
    const verified = await this.#store.verify(session.id, checked.used);
    return verified === undefined ? REFUSED : done(verified);
  }

  /** Returns the operator of a live session. Notes the use, unless the call runs by itself. */
  async operatorWithSession(token: string, isBackground: boolean): Promise<CallingOperator | undefined> {
    const session = await this.#store.session(tokenSha256Of(token));
    const now = this.#now();
    if (session === undefined || hasEnded(session, now)) return undefined;
    const operator = await this.#operators.operator(session.operatorId);
    if (operator === undefined || !holdsFor(session, operator)) return undefined;
    // A database that takes no writes must not keep people from looking.
    if (!isBackground && needsUse(session, now)) await this.#store.use(session.id).catch(() => undefined);
    return { ...operator, session };
  }

  /** Returns the live sessions of these operators, oldest first. */
  async sessions(operators: readonly Operator[]): Promise<readonly OperatorSession[]> {
    const byId = new Map(operators.map((operator) => [operator.id, operator]));
    const sessions = await this.#store.sessions();
    return sessions.filter((session) => {
      const operator = byId.get(session.operatorId);
      return operator !== undefined && holdsFor(session, operator);
    });
  }

  /** Returns whether there was such a session. */
  end(id: string): Promise<boolean> {
    return this.#store.end(id);
  }

  /** Makes an invitation. The caller has checked whom it is for. */
  invite(invited: Invited, by: Operator | undefined): Promise<GivenToken> {
    return this.#give(INVITATION, { kind: "invitation", owner: by?.id ?? OPERATOR, invited });
  }

  /** Makes a code for an operator who called with this key. */
  createCode({ id: owner }: Operator, keySha256: string): Promise<GivenToken> {
    return this.#give(CODE, { kind: "code", owner, keySha256 });
  }

  async #give(
    { token: kind, millis, max, page }: typeof INVITATION | typeof CODE,
    content: TokenContent,
  ): Promise<GivenToken> {
    const token = newToken(kind);
    const createdAt = this.#now();
    const expiresAt = toUnixMillis(createdAt + millis);
    await this.#store.addToken({ ...content, sha256: tokenSha256Of(token), createdAt, expiresAt }, max);
    return { token, link: `${this.#passkeys.origin}${page}${token}`, expiresAt };
  }

  /** Registers the passkey of an invited person. The inviter does the act, or proposes it. */
  async register(
    invitation: string,
    responseJson: string,
  ): Promise<OrRefused<{ readonly passkeyId: PasskeyId; readonly made: Operator | Proposal }>> {
    const found = await this.#invitation(invitation);
    const response = readResponse(responseJson);
    if (found === undefined || response === undefined) return REFUSED;
    const { token, inviter } = found;
    if ((await challengeIn(response.challenge, this.#asks(token.sha256))) === undefined) return REFUSED;
    const checking = this.#checks.run("", () => this.#passkeys.registered(response));
    if (checking === undefined) return BUSY;
    const passkey = await checking;
    if (passkey === undefined) return REFUSED;
    const sha256 = passkeySha256(passkey);
    const named = { passkeySha256: sha256, passkeyId: passkeyIdOf(sha256) };
    const { invited } = token;
    const by = { ...named, ...(await ofHouse(this.#operators, inviter)) };
    const command =
      "operatorId" in invited
        ? ({ name: "addPasskey", operatorId: invited.operatorId, ...by } as const)
        : ({ name: "createOperator", operatorName: invited.name, roles: invited.roles, ...by } as const);
    const outcome = await this.#store.register(command, { passkey, invitationSha256: token.sha256 });
    if (outcome.kind === "refused") return outcome;
    const { resource, proposal } = outcome.resource;
    return done({ passkeyId: named.passkeyId, made: resource ?? proposal });
  }

  async #beginSession(
    operator: Operator,
    session: Pick<NewSession, "beganWith" | "isVerified">,
    used: UsedOnce,
  ): Promise<OrRefused<SignedIn>> {
    const token = newToken("ses");
    const given = { ...session, tokenSha256: tokenSha256Of(token), operatorId: operator.id };
    const begun = await this.#store.begin(given, used);
    return begun === undefined ? REFUSED : done({ token, session: begun, operator });
  }

  /** Returns who signed a response. Does not use the challenge up. */
  async #check(responseJson: string) {
    const response = readResponse(responseJson);
    if (response === undefined) return REFUSED;
    const used = await challengeIn(response.challenge, this.#asks(""));
    const passkey = used && (await this.#store.passkey(response.credentialId));
    if (used === undefined || passkey === undefined) return REFUSED;
    const sha256 = passkeySha256(passkey);
    const operator = await this.#operators.operatorWithPasskey(sha256);
    if (operator === undefined) return REFUSED;
    const checking = this.#checks.run("", () => this.#passkeys.isSignedBy(passkey, response));
    if (checking === undefined) return BUSY;
    return (await checking) ? { operator, sha256, used } : REFUSED;
  }

  async #code(text: string) {
    const token = kindOfToken(text) === "code" ? await this.#store.token(tokenSha256Of(text)) : undefined;
    if (token?.kind !== "code") return undefined;
    const operator = await this.#operators.operator(token.owner);
    if (operator?.revokedAt !== undefined || operator?.keySha256 !== token.keySha256) {
      return undefined;
    }
    return { token, operator, name: operator.name };
  }

  /**
   * An invitation ends with the right of the inviter, and with the person whom it is for. There is
   * no `inviter` if the machine made it, and no `operator` if it is for a new one.
   */
  async #invitation(text: string) {
    const token = kindOfToken(text) === "inv" ? await this.#store.token(tokenSha256Of(text)) : undefined;
    if (token?.kind !== "invitation") return undefined;
    const { owner, invited } = token;
    const inviter = owner === OPERATOR ? undefined : await this.#operators.operator(owner as OperatorId);
    if (owner !== OPERATOR && (inviter === undefined || hasRoleSince(inviter, PROPOSING_ROLES) === undefined))
      return undefined;
    if (!("operatorId" in invited)) return { token, inviter, operator: undefined, name: invited.name };
    const operator = await this.#operators.operator(invited.operatorId);
    return operator === undefined ? undefined : { token, inviter, operator, name: operator.name };
  }

  #asks(purpose: string) {
    return { store: this.#store, purpose, now: this.#now() };
  }

  #now(): UnixMillis {
    return toUnixMillis(this.#clock());
  }
}

function done<Value>(value: Value): { readonly kind: "done"; readonly value: Value } {
  return { kind: "done", value };
}
