import { expect } from "chai";

import {
  completeRoot,
  consistencyRanges,
  inclusionRanges,
  leafHash,
  type NodeReader,
  type Range,
  rootOfRange,
} from "../../src/seals/merkle.js";
import { nodesOfTiles, type Tile, TILE_HASHES, tilePath, TreeEdge } from "../../src/seals/tiles.js";
import { Random } from "../attack/random.js";
import { SEED } from "../support/stage.js";
import { type Hash, naivePath, naiveProof, naiveRoot } from "./trees.js";

/** The inputs of the test vectors of certificate-transparency-go, in hexadecimal. */
const INPUTS = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
const ROOTS = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];
const A = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7";
const B = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e";
const C = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4";
const D = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b";
const E = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0";
const F = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a";
const G = "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f";

/** Of a leaf, counted from 0, in a tree of a size. */
const INCLUSION: readonly (readonly [index: number, size: number, hashes: readonly string[]])[] = [
  [0, 1, []],
  [0, 8, [A, B, C]],
  [5, 8, [D, E, ROOTS[4] ?? ""]],
  [2, 3, [ROOTS[2] ?? ""]],
  [1, 5, [ROOTS[1] ?? "", B, D]],
];
const CONSISTENCY: readonly (readonly [from: number, size: number, hashes: readonly string[]])[] = [
  [1, 1, []],
  [1, 8, [A, B, C]],
  [6, 8, [F, E, ROOTS[4] ?? ""]],
  [2, 5, [B, D]],
  [6, 7, [F, G, ROOTS[4] ?? ""]],
];

/** A tree over leaves, as the sealer grows it and the proofs read it. */
class Tree {
  readonly #tiles = new Map<string, Uint8Array>();
  readonly #edge: TreeEdge;

  private constructor(edge: TreeEdge) {
    this.#edge = edge;
  }

  static async of(hashes: readonly Uint8Array[]): Promise<Tree> {
    const tree = new Tree(await TreeEdge.of(0, () => Promise.resolve(new Uint8Array())));
    for (const hash of hashes) tree.#keep(tree.#edge.add(hash));
    tree.#keep(tree.#edge.partialTiles());
    return tree;
  }

  get node(): NodeReader {
    return nodesOfTiles((name) => Promise.resolve(this.#tiles.get(tilePath(name)) ?? new Uint8Array()));
  }

  /** Another edge, read from the tiles as after a restart. */
  readonly edgeAt = (size: number): Promise<TreeEdge> =>
    TreeEdge.of(size, (name) => Promise.resolve(this.#tiles.get(tilePath(name)) ?? new Uint8Array()));

  get root(): Hash {
    return Buffer.from(this.#edge.root());
  }

  hashesOf(ranges: readonly Range[]): Promise<string[]> {
    return Promise.all(ranges.map(async (range) => hex(await rootOfRange(range, this.node))));
  }

  #keep(tiles: readonly Tile[]): void {
    for (const tile of tiles) this.#tiles.set(tilePath(tile), tile.hashes);
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const treeOf = (leaves: readonly Buffer[]): Promise<Tree> =>
  Tree.of(leaves.map((leaf) => leafHash(leaf.toString("latin1"))));
const leavesOf = (count: number): Buffer[] => Array.from({ length: count }, (_, index) => Buffer.from(String(index)));

describe("the tree of RFC 6962", () => {
  const inputs = INPUTS.map((input) => Buffer.from(input, "hex"));

  it("has the roots of the test vectors", async () => {
    const roots = await Promise.all(ROOTS.map(async (_, size) => hex((await treeOf(inputs.slice(0, size))).root)));
    expect(roots).to.deep.equal(ROOTS);
  });

  it("has the inclusion proofs of the test vectors", async () => {
    for (const [index, size, hashes] of INCLUSION) {
      const tree = await treeOf(inputs.slice(0, size));
      expect(await tree.hashesOf(inclusionRanges(index, size))).to.deep.equal(hashes);
    }
  });

  it("has the consistency proofs of the test vectors", async () => {
    for (const [from, size, hashes] of CONSISTENCY) {
      const tree = await treeOf(inputs.slice(0, size));
      expect(await tree.hashesOf(consistencyRanges(from, size))).to.deep.equal(hashes);
    }
  });

  it("agrees with the words of the RFC on the root and the proofs of 150 sizes", async () => {
    // Trees differ by the bits of their size: each small size, those around powers of two, others.
    const sizes = new Set(Array.from({ length: 70 }, (_, index) => index + 1));
    for (const power of [128, 256, 512, 1_024])
      sizes
        .add(power - 1)
        .add(power)
        .add(power + 1);
    const random = new Random(SEED);
    while (sizes.size < 150) sizes.add(random.between(71, 1_300));
    const all = leavesOf(1_300);
    for (const size of sizes) {
      const leaves = all.slice(0, size);
      const tree = await treeOf(leaves);
      expect(hex(tree.root)).to.equal(hex(naiveRoot(leaves)));
      const index = random.below(size);
      expect(await tree.hashesOf(inclusionRanges(index, size))).to.deep.equal(naivePath(index, leaves).map(hex));
      const from = random.between(1, size);
      expect(await tree.hashesOf(consistencyRanges(from, size))).to.deep.equal(naiveProof(from, leaves).map(hex));
    }
  });

  it("goes on from its tiles as if it had never stopped", async () => {
    const leaves = leavesOf(70_000);
    const whole = await treeOf(leaves);
    for (const size of [1, 255, 256, 257, 65_535, 65_536, 65_537, 69_999]) {
      const edge = await whole.edgeAt(size);
      expect(hex(edge.root()), String(size)).to.equal(hex((await treeOf(leaves.slice(0, size))).root));
      for (const leaf of leaves.slice(size)) edge.add(leafHash(leaf.toString()));
      expect(hex(edge.root()), `from ${String(size)}`).to.equal(hex(whole.root));
    }
  }).timeout(60_000);

  it("refuses to go on from a tile that is too short", async () => {
    const tree = await treeOf(leavesOf(300));
    let thrown: unknown;
    await tree.edgeAt(TILE_HASHES * 2 + 1).catch((error: unknown) => (thrown = error));
    expect(String(thrown)).to.match(/tile 2 of level 0 is missing or too short/);
  });

  it("keeps a node from passing for a leaf", () => {
    const pair = Buffer.concat([leafHash("a"), leafHash("b")]);
    expect(hex(leafHash(pair.toString("latin1")))).not.to.equal(hex(completeRoot(pair)));
  });
});

describe("the path of a tile", () => {
  it("is that of C2SP tlog-tiles", () => {
    expect(tilePath({ level: 0, index: 0 })).to.equal("tile/0/000");
    expect(tilePath({ level: 1, index: 67 }, 5)).to.equal("tile/1/067.p/5");
    expect(tilePath({ level: 0, index: 1_234_067 })).to.equal("tile/0/x001/x234/067");
  });
});
