import { type Actor, OPERATOR } from "../domain/values/actor.js";
import type { OperatorId } from "../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../domain/values/parsed.js";
import { parseName } from "../domain/values/text.js";
import type { UnixMillis } from "../domain/values/time.js";

export const ROLES = ["viewer", "support", "finance", "approver", "admin"] as const;

/** What an operator may do. The contract of the AdminService says which rpc takes which role. */
export type Role = (typeof ROLES)[number];

/** The name of a person. No other operator ever has it. */
export type OperatorName = string & { readonly brand: unique symbol };

/** A person who administers the service, without the key. */
export interface Operator {
  readonly id: OperatorId;
  readonly name: OperatorName;
  readonly roles: readonly Role[];
  readonly createdAt: UnixMillis;
  readonly revokedAt: UnixMillis | undefined;
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

/** Parses one role, such as "support". */
function parseRole(unchecked: string): Parsed<Role> {
  const role = ROLES.find((known) => known === unchecked);
  return role === undefined ? unparsed(`must be one of ${ROLES.join(", ")}`, "UNKNOWN_VALUE") : parsed(role);
}

/** Parses at least one role. Sorts them, so that equal sets are equal texts. */
export function parseRoles(unchecked: readonly string[]): Parsed<readonly Role[]> {
  if (unchecked.length === 0) return unparsed("is required", "REQUIRED");
  for (const text of unchecked) {
    const role = parseRole(text);
    if (!role.ok) return role;
  }
  return parsed(ROLES.filter((role) => unchecked.includes(role)));
}
