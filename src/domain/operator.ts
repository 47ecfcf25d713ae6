import { type Actor, OPERATOR } from "./values/actor.js";
import type { OperatorId } from "./values/ids.js";
import { type Parsed, parsed, parseSomeOf, unparsed } from "./values/parsed.js";
import { parseName } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

export const ROLES = ["viewer", "support", "finance", "approver", "admin"] as const;

/** What an operator may do. The contract of the AdminService says which rpc takes which role. */
export type Role = (typeof ROLES)[number];

/** Who may let payouts begin. To close them only stops money, and takes less. */
export const BEGIN_PAYOUTS_ROLES: readonly Role[] = ["finance", "admin"];

/** Returns whether the operator may let payouts begin. The machine may. */
export function mayBeginPayouts(operator: Pick<Operator, "roles"> | undefined): boolean {
  return operator?.roles.some((role) => BEGIN_PAYOUTS_ROLES.includes(role)) ?? true;
}

/** The name of a person. No other operator ever has it. */
export type OperatorName = string & { readonly brand: unique symbol };

/** The fingerprint of a passkey that people compare: 12 characters. */
export type PasskeyId = string & { readonly brand: unique symbol };

/** A passkey of an operator. */
export interface OperatorPasskey {
  readonly id: PasskeyId;
  /** In hexadecimal. It covers the id and the public key that the passkey has. */
  readonly sha256: string;
  readonly createdAt: UnixMillis;
}

/** A person who administers the service, without the key. */
export interface Operator {
  readonly id: OperatorId;
  readonly name: OperatorName;
  readonly roles: readonly Role[];
  readonly createdAt: UnixMillis;
  readonly revokedAt: UnixMillis | undefined;
  /** What the person may do from each moment on, oldest first: nothing once revoked. */
  readonly history: readonly { readonly at: UnixMillis; readonly roles: readonly Role[] }[];
  /** The SHA-256 of the key. Undefined for a person who has passkeys only. */
  readonly keySha256: string | undefined;
  /** Oldest first. */
  readonly passkeys: readonly OperatorPasskey[];
}

/** What was done about an operator. No change has a secret: of keys it has the SHA-256. */
export interface PersonChange {
  readonly kind:
    | "operator.created"
    | "operator.roles_changed"
    | "operator.key_replaced"
    | "operator.passkey_added"
    | "operator.passkey_removed"
    | "operator.revoked";
  readonly operatorId: OperatorId;
  /** Of a new operator. */
  readonly name?: OperatorName;
  /** All roles from now on. */
  readonly roles?: readonly Role[];
  /** In hexadecimal, as that of a passkey. */
  readonly keySha256?: string;
  /** The passkey that is added or removed. */
  readonly passkeySha256?: string;
  readonly actor: Actor;
  readonly recordedAt: UnixMillis;
}

/**
 * Returns since when the operator has had one of the roles without a break: 0 for one who always
 * had. Undefined without any of them now. A role that was lost and came back begins anew: the acts
 * of operators are never forgotten.
 */
export function hasRoleSince({ history }: Operator, roles: readonly Role[]): UnixMillis | undefined {
  const lost = history.findLastIndex((then) => !then.roles.some((role) => roles.includes(role)));
  if (lost === history.length - 1) return undefined;
  return lost === -1 ? (0 as UnixMillis) : history[lost + 1]?.at;
}

/** Returns whether the operator has had one of the roles at each moment from `since` on. */
export function hasKeptRole(operator: Operator, roles: readonly Role[], since: UnixMillis): boolean {
  return (hasRoleSince(operator, roles) ?? Number.POSITIVE_INFINITY) <= since;
}

const ID_CHARACTERS = "0123456789abcdefghjkmnpqrstvwxyz";
const ID_LENGTH = 12;

/**
 * Returns the id of a passkey: the first 60 bits of its SHA-256. Letters that people confuse are
 * left out.
 */
export function passkeyIdOf(sha256: string): PasskeyId {
  const first = BigInt(`0x${sha256.slice(0, 15)}`);
  const digits = Array.from({ length: ID_LENGTH }, (_, index) => {
    return ID_CHARACTERS.charAt(Number((first >> BigInt(5 * (ID_LENGTH - 1 - index))) & 31n));
  });
  return digits.join("") as PasskeyId;
}

/** Parses the id of a passkey: 12 characters from 0-9 and a-z. */
export function parsePasskeyId(unchecked: string): Parsed<PasskeyId> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  return /^[0-9a-z]{12}$/.test(unchecked)
    ? parsed(unchecked as PasskeyId)
    : unparsed("must be 12 characters from 0-9 and a-z");
}

/** Returns the author of the operator's rows in a book. A book holds no name there. */
export function actorOf(operator: Pick<Operator, "id"> | undefined): Actor {
  return operator === undefined ? OPERATOR : (operator.id as string as Actor);
}

const SECRET = /^kesc_op_[A-Za-z0-9_-]{43}$/;
const FINGERPRINT = /^[0-9a-f]{64}$/;

/** Returns whether a text has the form of an operator's key. No key of an organization has it. */
export function isOperatorKey(text: string): boolean {
  return SECRET.test(text);
}

/** Parses the name of a person: 1 to 128 printable characters, without a space at either end. */
export function parseOperatorName(unchecked: string): Parsed<OperatorName> {
  return parseName<OperatorName>(unchecked);
}

/** Parses the fingerprint of an operator's key: its SHA-256 in hexadecimal. */
export function parseFingerprint(unchecked: string): Parsed<string> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  return FINGERPRINT.test(unchecked)
    ? parsed(unchecked)
    : unparsed("must be the 64 hexadecimal digits that 'kesc operator new-key' prints");
}

/** Parses at least one role. Sorts them, so that equal sets are equal texts. */
export function parseRoles(unchecked: readonly string[]): Parsed<readonly Role[]> {
  return parseSomeOf(unchecked, ROLES);
}
