import { createHmac, timingSafeEqual } from "node:crypto";

import { fromUUID, toUUID, type TypeId } from "typeid-js";

import type { DepositId, TransactionId } from "../domain/values/ids.js";

// The token is hexadecimal: version (1 byte), purpose (1), cell (2), UUID (16), MAC (16). Digits
// and the letters a to f cannot spell a word that M-Pesa forbids in the address of a callback.
const VERSION = 1;
const SIGNED_BYTES = 20;
const MAC_BYTES = 16;
const TOKEN = /^[0-9a-f]{72}$/;
const CELL_MAX = 65_535;
const DOMAIN = "kesc-callback";

// The place in this list is the byte in the token. Only append.
const PURPOSES = [
  "collect",
  "pay_out",
  "timeout",
  "status",
  "balance",
  "confirmation",
  "validation",
  "return",
] as const;

/**
 * What an address is for. The rail sends to `confirmation` and `validation` by itself, about
 * payments by hand, and to `return` what became of the return of one.
 */
export type AddressPurpose = (typeof PURPOSES)[number];

/**
 * Which request about an order, or for a balance, a message answers. `timeout` is the rail's notice
 * that a payout waits.
 */
export type CallbackPurpose = Exclude<AddressPurpose, "confirmation" | "validation" | "return">;

/** What a message at a callback's address is about. */
export interface CallbackSubject {
  readonly cell: number;
  readonly purpose: AddressPurpose;
  /**
   * The UUID of the transaction. With `balance` it is that of the question, with `confirmation` and
   * `validation` that of the account at the rail, and with `return` that of the deposit.
   */
  readonly uuid: string;
}

/**
 * Makes the token for a callback's address. Nothing is stored for it: whoever has the secret can
 * read back what it is about. Throws a RangeError for a cell above 65535.
 */
export function callbackToken(secret: Buffer, { cell, purpose, uuid }: CallbackSubject): string {
  if (cell > CELL_MAX) throw new RangeError(`cell ${String(cell)} does not fit into a callback token`);
  const signed = Buffer.alloc(SIGNED_BYTES);
  signed.writeUInt8(VERSION, 0);
  signed.writeUInt8(PURPOSES.indexOf(purpose), 1);
  signed.writeUInt16BE(cell, 2);
  signed.write(uuid.replaceAll("-", ""), 4, "hex");
  return Buffer.concat([signed, macOf(secret, signed)]).toString("hex");
}

/**
 * Returns what the token is about, or undefined if none of the secrets made it. During a rotation
 * there are two secrets, the new one and the old one.
 */
export function readCallbackToken(secrets: readonly Buffer[], token: string): CallbackSubject | undefined {
  if (!TOKEN.test(token)) return undefined;
  const bytes = Buffer.from(token, "hex");
  const signed = bytes.subarray(0, SIGNED_BYTES);
  const mac = bytes.subarray(SIGNED_BYTES);
  // Compares with every secret, in constant time: the time shows neither which one fits nor how
  // much of the MAC agrees.
  const fits = secrets.filter((secret) => timingSafeEqual(macOf(secret, signed), mac));
  const purpose = PURPOSES[signed.readUInt8(1)];
  if (fits.length === 0 || signed.readUInt8(0) !== VERSION || purpose === undefined) return undefined;
  return { cell: signed.readUInt16BE(2), purpose, uuid: uuidText(signed.subarray(4)) };
}

/** Returns the UUID in the id of a transaction or a deposit. */
export function uuidOf(id: TransactionId | DepositId): string {
  return toUUID(id as string as TypeId<"txn">);
}

/** Returns the id of the deposit with this UUID: the inverse of `uuidOf`. */
export function depositIdOf(uuid: string): DepositId {
  return fromUUID(uuid, "dep") as string as DepositId;
}

/** Returns the id of the transaction with this UUID: the inverse of `uuidOf`. */
export function transactionIdOf(uuid: string): TransactionId {
  return fromUUID(uuid, "txn") as string as TransactionId;
}

function macOf(secret: Buffer, signed: Buffer): Buffer {
  return createHmac("sha256", secret).update(DOMAIN).update(signed).digest().subarray(0, MAC_BYTES);
}

function uuidText(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
