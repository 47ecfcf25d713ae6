import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";

import type { RowOf } from "../../model/column.js";
import type { OPERATOR_KEYS } from "../../model/database.js";
import { WrongMasterKeyError } from "./book-keys.js";
import { decrypt, encrypt } from "./encryption.js";
import type { MasterKeys } from "./master-key.js";

const KEY_BYTES = 32;
const CONTEXT = ["kesc-operator-key"];
// The first text names the format, so that a later format cannot be mistaken for this one.
const FORMAT = "kesc-operator-chain-1";

/** The row of `operator_keys`: the key of a cell's chain, encrypted by a master key. */
export type OperatorKeyRow = Omit<RowOf<typeof OPERATOR_KEYS>, "id">;

/** Returns a random key, and the same key encrypted by the first master key. */
export function newOperatorKey(masterKeys: MasterKeys): [KeyObject, OperatorKeyRow] {
  const key = createSecretKey(randomBytes(KEY_BYTES));
  return [key, wrapOperatorKey(masterKeys, key)];
}

/** Encrypts the key again, with the first master key. Throws a WrongMasterKeyError. */
export function rewrapOperatorKey(masterKeys: MasterKeys, row: OperatorKeyRow): OperatorKeyRow {
  return wrapOperatorKey(masterKeys, unwrapOperatorKey(masterKeys, row));
}

function wrapOperatorKey([master]: MasterKeys, key: KeyObject): OperatorKeyRow {
  return { chain_key: encrypt(master.key, key.export(), CONTEXT), master_key_id: master.id };
}

/** Decrypts the key. Throws a WrongMasterKeyError. */
export function unwrapOperatorKey(masterKeys: MasterKeys, row: OperatorKeyRow): KeyObject {
  const master = masterKeys.find(({ id }) => id === row.master_key_id);
  if (master === undefined) {
    throw new WrongMasterKeyError(
      `the key of the operators needs the master key ${row.master_key_id}, which the master key file lacks`,
    );
  }
  try {
    return createSecretKey(decrypt(master.key, row.chain_key, CONTEXT));
  } catch (error) {
    throw new WrongMasterKeyError("the key of the operators was changed", { cause: error });
  }
}

/** A row of the chain, and the row of another table that it stands for. */
export interface ChainedRow {
  readonly seq: number;
  /** The `mac` of the row before it, in hexadecimal. Empty for the first row. */
  readonly previous: string;
  /** Names the other row. */
  readonly subject: string;
  /** The columns of the other row. */
  readonly fields: readonly (string | number)[];
}

/** Returns the `mac` of a row, in hexadecimal: HMAC-SHA-256 over it and the row before it. */
export function operatorMac(key: KeyObject, { seq, previous, subject, fields }: ChainedRow): string {
  return createHmac("sha256", key)
    .update(JSON.stringify([FORMAT, seq, previous, subject, ...fields]))
    .digest("hex");
}

// The first text keeps such a `mac` apart from one of the chain.
const SIGN_IN_FORMAT = "kesc-sign-in-1";

/**
 * Returns the `mac` of a session, a token or a challenge, in hexadecimal. `subject` says which. So
 * nobody can write one with the database alone.
 */
export function signInMac(key: KeyObject, subject: string, fields: readonly (string | number | null)[]): string {
  return createHmac("sha256", key)
    .update(JSON.stringify([SIGN_IN_FORMAT, subject, ...fields]))
    .digest("hex");
}
