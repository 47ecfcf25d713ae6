import { hash, randomBytes, timingSafeEqual } from "node:crypto";

import type { UnixMillis } from "../domain/values/time.js";
import type { SignInStore, UsedOnce } from "./sign-in-ports.js";

const RANDOM_BYTES = 16;
const TIME_BYTES = 6;
const MAC_BYTES = 32;
const CHALLENGE_MILLIS_MAX = 300_000;

/** Who makes or reads a challenge, and when. */
interface ChallengeOptions {
  readonly store: Pick<SignInStore, "challengeMac">;
  /** An invitation, by the SHA-256 of its token. "": a sign-in. */
  readonly purpose: string;
  readonly now: UnixMillis;
}

/**
 * Makes a challenge that proves itself: random bytes, the time, and a `mac` over both and the
 * purpose. Nothing is stored, so nobody without a passkey can fill the database, or push the
 * challenge of another person out of it.
 */
export async function newChallenge({ store, purpose, now }: ChallengeOptions): Promise<Buffer<ArrayBuffer>> {
  const head = Buffer.alloc(RANDOM_BYTES + TIME_BYTES);
  randomBytes(RANDOM_BYTES).copy(head);
  head.writeUIntBE(now, RANDOM_BYTES, TIME_BYTES);
  // Before the first operator nobody can sign in, so this challenge fits no `mac`.
  return Buffer.concat([head, (await store.challengeMac(head, purpose)) ?? randomBytes(MAC_BYTES)]);
}

/**
 * Reads the challenge of a response. Returns what is used up with it, or undefined if it is not
 * ours, is for another purpose, or is older than 5 minutes.
 */
export async function challengeIn(
  text: string,
  { store, purpose, now }: ChallengeOptions,
): Promise<UsedOnce | undefined> {
  const bytes = Buffer.from(text, "base64url");
  // One challenge has one text: otherwise it could be used again in another one.
  if (bytes.length !== RANDOM_BYTES + TIME_BYTES + MAC_BYTES || bytes.toString("base64url") !== text) return undefined;
  const head = bytes.subarray(0, RANDOM_BYTES + TIME_BYTES);
  const mac = await store.challengeMac(head, purpose);
  if (mac === undefined || !timingSafeEqual(mac, bytes.subarray(head.length))) return undefined;
  const expiresAt = head.readUIntBE(RANDOM_BYTES, TIME_BYTES) + CHALLENGE_MILLIS_MAX;
  return now > expiresAt ? undefined : { kind: "challenge", sha256: hash("sha256", bytes, "hex") };
}
