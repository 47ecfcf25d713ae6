import { hash } from "node:crypto";

/** The bytes of one hash. */
export const HASH_BYTES = 32;

const LEAF_PREFIX = Buffer.of(0);
const NODE_PREFIX = Buffer.of(1);

/** The leaves from `first` on and before `end`. */
export interface Range {
  readonly first: number;
  readonly end: number;
}

/** Returns the root of a complete subtree: of the leaves from index·2^level on, 2^level of them. */
export type NodeReader = (level: number, index: number) => Promise<Uint8Array>;

/** Returns the hash of a leaf (RFC 6962, 2.1). The prefix keeps a node from passing for a leaf. */
export function leafHash(text: string): Buffer {
  return hash("sha256", Buffer.concat([LEAF_PREFIX, Buffer.from(text)]), "buffer");
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return hash("sha256", Buffer.concat([NODE_PREFIX, left, right]), "buffer");
}

/** Returns the root of a tree without leaves. */
function emptyRoot(): Buffer {
  return hash("sha256", "", "buffer");
}

/**
 * Returns the root over complete subtrees, from left to right. Each is at least as high as the
 * next, as the binary digits of a tree's size are.
 */
export function rootOver(subtrees: readonly Uint8Array[]): Uint8Array {
  return subtrees.length === 0 ? emptyRoot() : subtrees.reduceRight((right, left) => nodeHash(left, right));
}

/** Returns the root of a complete subtree. The hashes lie one after another; 1, 2, 4 … of them. */
export function completeRoot(hashes: Uint8Array): Uint8Array {
  let row = hashes;
  while (row.length > HASH_BYTES) {
    const above = Buffer.allocUnsafe(row.length / 2);
    for (let at = 0; at < row.length; at += 2 * HASH_BYTES) {
      const pair = nodeHash(row.subarray(at, at + HASH_BYTES), row.subarray(at + HASH_BYTES, at + 2 * HASH_BYTES));
      above.set(pair, at / 2);
    }
    row = above;
  }
  return row;
}

/** Returns the root of a range. It begins at a multiple of a power of two that is not smaller. */
export async function rootOfRange({ first, end }: Range, node: NodeReader): Promise<Uint8Array> {
  const subtrees: Promise<Uint8Array>[] = [];
  for (let at = first; at < end;) {
    const level = Math.floor(Math.log2(end - at));
    subtrees.push(node(level, at / 2 ** level));
    at += 2 ** level;
  }
  return rootOver(await Promise.all(subtrees));
}

/**
 * Returns the ranges whose roots are the inclusion proof of a leaf, from the leaf up (RFC 6962,
 * 2.1.1).
 */
export function inclusionRanges(index: number, size: number): readonly Range[] {
  const ranges: Range[] = [];
  for (let { first, end }: Range = { first: 0, end: size }; end - first > 1;) {
    const middle = first + largestPowerBelow(end - first);
    if (index < middle) {
      ranges.push({ first: middle, end });
      end = middle;
    } else {
      ranges.push({ first, end: middle });
      first = middle;
    }
  }
  return ranges.reverse();
}

/**
 * Returns the ranges whose roots are the proof that the first `from` leaves of a tree are those of
 * an earlier tree (RFC 6962, 2.1.2).
 */
export function consistencyRanges(from: number, size: number): readonly Range[] {
  const ranges: Range[] = [];
  let [first, end] = [0, size];
  // The verifier knows the root of the earlier tree, if it is a subtree of the later one.
  let isKnown = true;
  while (from < end) {
    const middle = first + largestPowerBelow(end - first);
    if (from <= middle) {
      ranges.push({ first: middle, end });
      end = middle;
    } else {
      ranges.push({ first, end: middle });
      first = middle;
      isKnown = false;
    }
  }
  if (!isKnown) ranges.push({ first, end });
  return ranges.reverse();
}

/** Returns the largest power of two below the number. */
function largestPowerBelow(count: number): number {
  return 2 ** Math.ceil(Math.log2(count) - 1);
}
