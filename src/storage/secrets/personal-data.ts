import { createHmac } from "node:crypto";

import type { AccountId, DepositId, DestinationId, OrganizationId, TransactionId } from "../../domain/values/ids.js";
import { normalName } from "../../domain/values/names-of-persons.js";
import type { BookKeys } from "./book-keys.js";
import { decrypt, encrypt } from "./encryption.js";
import { readPart } from "./unreadable-row.js";

export type PersonalField = "phone_number" | "email" | "typed_reference" | "number";

/** The place of a personal field. A ciphertext is valid in this place only. */
export interface PersonalFieldPlace {
  readonly organizationId: OrganizationId;
  /** The account, the transaction that was given to a rail, the deposit, or the destination. */
  readonly ownerId: AccountId | TransactionId | DepositId | DestinationId;
  readonly field: PersonalField;
}

export function encryptPersonal({ data }: Pick<BookKeys, "data">, place: PersonalFieldPlace, value: string): Buffer {
  return encrypt(data, value, contextOf(place));
}

/** Throws an UnreadableRowError if the bytes were changed, or belong to another place. */
export function decryptPersonal(
  { data }: Pick<BookKeys, "data">,
  place: PersonalFieldPlace,
  sealed: Uint8Array,
): string {
  return readPart(`${place.field} of ${place.ownerId}`, () => decrypt(data, sealed, contextOf(place)).toString("utf8"));
}

/**
 * Returns the value of a blind index: equal texts give equal bytes, and without the key nobody can
 * test a guess. The case of an e-mail address does not matter.
 */
export function blindIndexOf({ index }: Pick<BookKeys, "index">, field: PersonalField, value: string): Buffer {
  const folded = field === "email" ? normalName(value) : value;
  return createHmac("sha256", index)
    .update(JSON.stringify([field, folded]))
    .digest();
}

function contextOf({ organizationId, ownerId, field }: PersonalFieldPlace): string[] {
  return ["kesc-personal-data", organizationId, ownerId, field];
}
