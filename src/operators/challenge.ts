import { hash, randomBytes, timingSafeEqual } from "node:crypto";

import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { SignInStore, UsedOnce } from "./sign-in-ports.js";

const RANDOM_BYTES = 16;
const TIME_BYTES = 6;
const MAC_BYTES = 32;
const CHALLENGE_MILLIS_MAX = 300_000;

/** What a challenge is for: an invitation, by the SHA-256 of its token. "": a sign-in. */
type Purpose = string;

/**
 * Makes a challenge that proves itself: random bytes, the time, and a `mac` over both and the
 * purpose. Nothing is stored, so nobody without a passkey can fill the database, or push the
 * challenge of another person out of it.
 */
export async function newChallenge(
  store: Pick<SignInStore, "macOf">,
  { purpose, now }: { readonly purpose: Purpose; readonly now: UnixMillis },
): Promise<Buffer<ArrayBuffer>> {
  const head = Buffer.alloc(RANDOM_BYTES + TIME_BYTES);
  randomBytes(RANDOM_BYTES).copy(head);
  head.writeUIntBE(now, RANDOM_BYTES, TIME_BYTES);
  // Before the first operator nobody can sign in, so this challenge fits no `mac`.
  const mac = await macOf(store, head, purpose);
  return Buffer.concat([head, mac ?? randomBytes(MAC_BYTES)]);
}

/**
 * Reads the challenge of a response. Returns what is used up with it, or undefined if it is not
 * ours, is for another purpose, or is older than 5 minutes.
 */
export async function challengeIn(
  store: Pick<SignInStore, "macOf">,
  text: string,
  { purpose, now }: { readonly purpose: Purpose; readonly now: UnixMillis },
): Promise<UsedOnce | undefined> {
  const bytes = Buffer.from(text, "base64url");
  // One challenge has one text: otherwise it could be used again in another one.
  if (bytes.length !== RANDOM_BYTES + TIME_BYTES + MAC_BYTES || bytes.toString("base64url") !== text) return undefined;
  const head = bytes.subarray(0, RANDOM_BYTES + TIME_BYTES);
  const mac = await macOf(store, head, purpose);
  if (mac === undefined || !timingSafeEqual(mac, bytes.subarray(head.length))) return undefined;
  const expiresAt = toUnixMillis(head.readUIntBE(RANDOM_BYTES, TIME_BYTES) + CHALLENGE_MILLIS_MAX);
  return now > expiresAt ? undefined : { kind: "challenge", sha256: hash("sha256", bytes, "hex"), expiresAt };
}

async function macOf(
  store: Pick<SignInStore, "macOf">,
  head: Uint8Array,
  purpose: Purpose,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const mac = await store.macOf("challenge", [Buffer.from(head).toString("hex"), purpose]);
  return mac === undefined ? undefined : Buffer.from(mac, "hex");
}
