import { completeRoot, HASH_BYTES, type NodeReader, rootOver } from "./merkle.js";

/** The hashes of a full tile. A tile covers 8 levels of the tree (C2SP tlog-tiles). */
export const TILE_HASHES = 256;
const TILE_LEVELS = 8;

/** Names a tile. The hashes of tile level n are roots of 256^n leaves each. */
export interface TileName {
  readonly level: number;
  readonly index: number;
}

/** A tile with its hashes, one after another. */
export interface Tile extends TileName {
  readonly hashes: Uint8Array;
}

/** Returns the hashes of a tile: at least as many as a tree of the reader's size has there. */
export type TileReader = (name: TileName) => Promise<Uint8Array>;

/** Reads nodes out of tiles. Reads each tile once. */
export function nodesOfTiles(read: TileReader): NodeReader {
  const tiles = new Map<string, Promise<Uint8Array>>();
  const tileOf = (name: TileName): Promise<Uint8Array> => {
    const path = tilePath(name);
    const tile = tiles.get(path) ?? read(name);
    tiles.set(path, tile);
    return tile;
  };
  return async (level, index) => {
    const tileLevel = Math.floor(level / TILE_LEVELS);
    const count = 2 ** (level % TILE_LEVELS);
    const first = index * count;
    const tile = await tileOf({ level: tileLevel, index: Math.floor(first / TILE_HASHES) });
    const at = (first % TILE_HASHES) * HASH_BYTES;
    const hashes = tile.subarray(at, at + count * HASH_BYTES);
    if (hashes.length < count * HASH_BYTES) throw new Error(`a tile of level ${String(tileLevel)} is too short`);
    return completeRoot(hashes);
  };
}

/** Returns the number of hashes that a tree of this size has in the last tile of a level, or 0. */
function edgeWidth(size: number, level: number): number {
  return Math.floor(size / TILE_HASHES ** level) % TILE_HASHES;
}

/** Returns the path of a tile: "tile/1/x001/067", or "tile/0/000.p/5" for a tile of 5 hashes. */
export function tilePath({ level, index }: TileName, width = TILE_HASHES): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, "0").match(/.{3}/g) ?? [];
  const name = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join("/");
  return `tile/${String(level)}/${name}${width === TILE_HASHES ? "" : `.p/${String(width)}`}`;
}

/**
 * The right edge of a tree that grows: the last tile of each level. It has everything that the root
 * needs, and everything that the next leaves change.
 */
export class TreeEdge {
  #size: number;
  /** The hashes of the last tile of each level that is not full. */
  readonly #levels: Uint8Array[][];

  private constructor(size: number, levels: Uint8Array[][]) {
    this.#size = size;
    this.#levels = levels;
  }

  /** Reads the edge of a tree of this size. Rejects with TileError if a tile is too short. */
  static async of(size: number, read: TileReader): Promise<TreeEdge> {
    const levels: Uint8Array[][] = [];
    for (let level = 0; TILE_HASHES ** level <= size; level++) {
      const width = edgeWidth(size, level);
      const index = Math.floor(size / TILE_HASHES ** (level + 1));
      const hashes = width === 0 ? new Uint8Array() : await read({ level, index });
      if (hashes.length < width * HASH_BYTES) throw new TileError({ level, index });
      levels.push(split(hashes).slice(0, width));
    }
    return new TreeEdge(size, levels);
  }

  get size(): number {
    return this.#size;
  }

  root(): Uint8Array {
    const subtrees: Uint8Array[] = [];
    for (const hashes of this.#levels.toReversed()) {
      for (let at = 0; at < hashes.length;) {
        const count = 2 ** Math.floor(Math.log2(hashes.length - at));
        subtrees.push(completeRoot(Buffer.concat(hashes.slice(at, at + count))));
        at += count;
      }
    }
    return rootOver(subtrees);
  }

  /** Adds a leaf. Returns the tiles that it filled, the lowest first. */
  add(leaf: Uint8Array): readonly Tile[] {
    this.#size += 1;
    const filled: Tile[] = [];
    let added = leaf;
    for (let level = 0; ; level++) {
      const hashes = (this.#levels[level] ??= []);
      hashes.push(added);
      if (hashes.length < TILE_HASHES) return filled;
      const tile = Buffer.concat(hashes);
      filled.push({ level, index: this.#size / TILE_HASHES ** (level + 1) - 1, hashes: tile });
      added = completeRoot(tile);
      hashes.length = 0;
    }
  }

  /** Returns the last tile of each level, if it is not full and not empty. */
  partialTiles(): readonly Tile[] {
    return this.#levels.flatMap((hashes, level) => {
      const index = Math.floor(this.#size / TILE_HASHES ** (level + 1));
      return hashes.length === 0 ? [] : [{ level, index, hashes: Buffer.concat(hashes) }];
    });
  }
}

/** A stored tile is missing, or shorter than the tree needs. */
export class TileError extends Error {
  constructor({ level, index }: TileName) {
    super(`tile ${String(index)} of level ${String(level)} is missing or too short`);
  }
}

/** Splits hashes that lie one after another. */
export function split(hashes: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.floor(hashes.length / HASH_BYTES) }, (_, index) =>
    hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
  );
}
