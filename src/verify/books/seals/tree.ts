import { hash } from "node:crypto";

/** The levels of the tree that one tile covers. */
const TILE_LEVELS = 8;
const NODE = Buffer.of(1);

/**
 * A tree of RFC 6962 that grows leaf by leaf. It has in memory one node for each binary digit of
 * its size.
 */
export class GrowingTree {
  /** The roots of complete subtrees. Index n has that of 2^n leaves, if the size has the digit. */
  readonly #subtrees: (Buffer | undefined)[] = [];
  readonly #onTileNode: (level: number, node: Buffer) => void;
  #size = 0;

  /** `onTileNode` hears each node whose height is a multiple of 8, but for the leaves. */
  constructor(onTileNode: (level: number, node: Buffer) => void = () => undefined) {
    this.#onTileNode = onTileNode;
  }

  get size(): number {
    return this.#size;
  }

  add(leaf: Buffer): void {
    let node = leaf;
    let height = 0;
    for (let left = this.#subtrees[0]; left !== undefined; left = this.#subtrees[height]) {
      this.#subtrees[height] = undefined;
      node = joined(left, node);
      height += 1;
      if (height % TILE_LEVELS === 0) this.#onTileNode(height / TILE_LEVELS, node);
    }
    this.#subtrees[height] = node;
    this.#size += 1;
  }

  /** Returns the root in hexadecimal. */
  root(): string {
    let root: Buffer | undefined;
    for (const subtree of this.#subtrees) {
      if (subtree !== undefined) root = root === undefined ? subtree : joined(subtree, root);
    }
    return root?.toString("hex") ?? hash("sha256", "", "hex");
  }
}

function joined(left: Buffer, right: Buffer): Buffer {
  return hash("sha256", Buffer.concat([NODE, left, right]), "buffer");
}
