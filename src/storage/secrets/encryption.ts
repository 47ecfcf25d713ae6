import { createCipheriv, createDecipheriv, hash, type KeyObject, randomBytes } from "node:crypto";

import type { Sealed } from "../../domain/values/sealed.js";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts with AES-256-GCM under a random nonce. `context` says what the text is and where it
 * belongs: `decrypt` succeeds only with the same context, so nobody can swap two ciphertexts.
 *
 * Returns the nonce, the ciphertext and the tag, in this order.
 */
export function encrypt(key: KeyObject, plain: Uint8Array | string, context: readonly string[]): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(bytesOf(context));
  const first = typeof plain === "string" ? cipher.update(plain, "utf8") : cipher.update(plain);
  return Buffer.concat([nonce, first, cipher.final(), cipher.getAuthTag()]);
}

/** Throws if the key or the context differs, or if the bytes were changed. */
export function decrypt(key: KeyObject, sealed: Uint8Array, context: readonly string[]): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(-TAG_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(bytesOf(context)).setAuthTag(tag);
  const first = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  return Buffer.concat([first, decipher.final()]);
}

/** Returns encrypted bytes as a command holds them. */
export function sealedOf(bytes: Uint8Array): Sealed {
  return { hex: Buffer.from(bytes).toString("hex"), sha256: hash("sha256", bytes, "hex") };
}

function bytesOf(context: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(context));
}
