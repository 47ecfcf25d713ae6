import { hash } from "node:crypto";

// The tree of RFC 6962 once more, word for word: slow, and with the rules of nobody else.

export type Hash = Buffer;

const sha256 = (...parts: readonly Uint8Array[]): Hash => hash("sha256", Buffer.concat(parts), "buffer");

/** MTH({d}) and MTH(D) of section 2.1. */
export function naiveRoot(leaves: readonly Uint8Array[]): Hash {
  if (leaves.length === 0) return sha256();
  const [only = Buffer.of()] = leaves;
  if (leaves.length === 1) return sha256(Buffer.of(0), only);
  const k = split(leaves.length);
  return sha256(Buffer.of(1), naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)));
}

/** PATH(m, D) of section 2.1.1. */
export function naivePath(m: number, leaves: readonly Uint8Array[]): Hash[] {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  return m < k
    ? [...naivePath(m, leaves.slice(0, k)), naiveRoot(leaves.slice(k))]
    : [...naivePath(m - k, leaves.slice(k)), naiveRoot(leaves.slice(0, k))];
}

/** PROOF(m, D) of section 2.1.2. */
export function naiveProof(m: number, leaves: readonly Uint8Array[], isComplete = true): Hash[] {
  if (m === leaves.length) return isComplete ? [] : [naiveRoot(leaves)];
  const k = split(leaves.length);
  return m <= k
    ? [...naiveProof(m, leaves.slice(0, k), isComplete), naiveRoot(leaves.slice(k))]
    : [...naiveProof(m - k, leaves.slice(k), false), naiveRoot(leaves.slice(0, k))];
}

function split(count: number): number {
  let k = 1;
  while (2 * k < count) k *= 2;
  return k;
}
