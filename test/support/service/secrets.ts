import { TEST_MASTER_KEY } from "../master-key.js";

/** The shapes of secrets that no output, no reply to a stranger and no command line may contain. */
const SHAPES = {
  key: /kesc_[A-Za-z0-9_-]{20,}/g,
  "master key": new RegExp(TEST_MASTER_KEY, "g"),
  "phone number": /(?<![0-9A-Za-z.])(?:\+|00)?(?:254[17]|0[17]|1415|4420)[0-9]{7,8}(?![0-9A-Za-z])/g,
  "e-mail address": /[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+/g,
  // The lookahead excludes the words with which `kesc help` explains the variable.
  "password of a database": /postgres(?:ql)?:\/\/(?!USER:PASSWORD@)[^\s/@]*:[^\s/@]+@/g,
} as const;

// A request id is random, and about one in ten thousand ends in digits that look like a phone
// number.
const REQUEST_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Returns a description of every secret in the text. */
export function secretsIn(text: string): string[] {
  const rest = text.replaceAll(REQUEST_ID, "");
  return Object.entries(SHAPES).flatMap(([what, shape]) =>
    Array.from(rest.matchAll(shape), ([found]) => `${what}: ${found}`),
  );
}
