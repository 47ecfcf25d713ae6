import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { leafHash } from "../../src/seals/merkle.js";
import { signedNote, verifierKeyOf } from "../../src/seals/note.js";
import { Random } from "../attack/random.js";
import { SEAL_KEY, SEAL_PUBLIC_KEY } from "../support/seals/given-seals.js";
import { SealedService } from "../support/seals/sealed-service.js";
import { SEED } from "../support/stage.js";
import { naivePath, naiveProof, naiveRoot } from "./trees.js";

const BOOKS = 1_000;
const random = new Random(SEED);
const ORIGIN = "kesc.example.com/org_1";
const KEY = verifierKeyOf(ORIGIN, SEAL_PUBLIC_KEY);

/** Why Python's verifier cannot run here. Undefined if it can. */
function pythonLacks(): string | undefined {
  const { error, status } = spawnSync("python3", ["-c", "import cryptography.hazmat.primitives.asymmetric.ed25519"]);
  if (error !== undefined) return "python3";
  return status === 0 ? undefined : "Python's package cryptography";
}

const lacks = pythonLacks();
const VERIFIERS = [
  ["verify.mjs", process.execPath, undefined],
  ["verify.py", "python3", lacks],
] as const;

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

describe("examples/verify", () => {
  let service: SealedService;
  let folder: string;
  let key = "";
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "kesc-verify-"));
    service = await SealedService.start("sqlite");
    const id = await service.mint("1000.00");
    await service.seal();
    const old = await service.get("/seals/checkpoint");
    await service.mint("2.00");
    await service.mint("3.00");
    await service.seal();
    const early = await service.get(`/seals/inclusion-proof?transaction_id=${id}`);
    await service.mint("4.00");
    await service.seal();
    const proof = await service.get(`/seals/inclusion-proof?transaction_id=${id}`);
    const consistency = await service.get(`/seals/consistency-proof?old_size=${String(old.json["size"])}`);
    writeFileSync(join(folder, "early.json"), early.text);
    writeFileSync(join(folder, "proof.json"), proof.text);
    writeFileSync(join(folder, "forged.json"), proof.text.replace('\\"100000\\"', '\\"900000\\"'));
    writeFileSync(join(folder, "old.json"), old.text);
    writeFileSync(join(folder, "new.json"), (await service.get("/seals/checkpoint")).text);
    writeFileSync(join(folder, "consistency.json"), consistency.text);
    const [newest] = old.json["verifier_keys"] as string[];
    key = newest ?? "";
  });
  after(async () => {
    await service.dispose();
    rmSync(folder, { recursive: true });
  });

  for (const [name, program, missing] of VERIFIERS) {
    describe(name + (missing === undefined ? "" : ` (skipped: this machine lacks ${missing})`), () => {
      before(function () {
        if (missing !== undefined) this.skip();
      });
      const run = (...args: string[]): { status: number | null; stdout: string; stderr: string } =>
        spawnSync(program, [`examples/verify/${name}`, ...args], { encoding: "utf8" });
      const file = (named: string): string => join(folder, named);

      it("says what the row says, and that the earlier checkpoint still holds", () => {
        const { status, stdout, stderr } = run(key, file("proof.json"), file("old.json"));
        expect(stderr).to.equal("");
        expect(stdout).to.match(/^YES: row \d+ of \d+ says transaction\.completed: 1,000\.00 to available of acc_/);
        expect(stdout).to.match(/YES: the first \d+ rows are those of the earlier checkpoint/);
        expect(status).to.equal(0);
      });

      it("does not take a proof to another checkpoint for a changed book", () => {
        const other = run(key, file("early.json"), file("old.json"));
        expect(other.stderr).to.match(/^NOT CHECKED: fetch consistency\.json again, with old_size=\d+&size=\d+\n$/);
        expect(other.status).to.equal(2);
        const older = run(key, file("early.json"), file("new.json"));
        expect(older).to.include({
          status: 2,
          stderr: "NOT CHECKED: old.json is newer than proof.json: fetch proof.json again\n",
        });
      });

      it("refuses a row with another amount, and a note of another key", () => {
        const forged = run(key, file("forged.json"));
        expect(forged.stderr).to.match(/NO: the row is not in the book/);
        expect(forged.status).to.equal(1);
        const other = verifierKeyOf(key.split("+")[0] ?? "", randomBytes(32));
        expect(run(other, file("proof.json")).stderr).to.match(/NO: the key has not signed the note/);
      });
    });
  }

  it(`verify.py agrees with the words of the RFC on ${String(BOOKS)} random books`, function () {
    if (lacks !== undefined) this.skip();
    const books = Array.from({ length: BOOKS }, randomBook);
    writeFileSync(join(folder, "books.json"), JSON.stringify(books));
    const found = execFileSync("python3", ["-c", CHECK_ALL, join(folder, "books.json"), KEY], { encoding: "utf8" });
    expect(found.trim()).to.equal(`${String(BOOKS)} true, ${String(BOOKS)} false`);
  }).timeout(300_000);
});

/** A book of random rows, with its proofs by the words of the RFC, and another leaf. */
function randomBook(): object {
  const size = random.between(1, 299);
  const leaves = Array.from({ length: size }, () => Buffer.from(String(random.below(1_000_000))));
  const index = random.below(size);
  const oldSize = random.between(1, size);
  const root = naiveRoot(leaves);
  const leaf = leaves[index];
  if (leaf === undefined) throw new Error("there is no such leaf");
  const hash = naiveRoot([leaf]);
  const changed = leafHash(leaf.toString("hex"));
  return {
    checkpoint: { signed_note: signedNote({ origin: ORIGIN, size, root }, SEAL_KEY) },
    index,
    size,
    leaf: base64(hash),
    changed: base64(changed),
    path: naivePath(index, leaves).map(base64),
    old_size: oldSize,
    old_root: base64(naiveRoot(leaves.slice(0, oldSize))),
    proof: naiveProof(oldSize, leaves).map(base64),
  };
}

const CHECK_ALL = `
import json, sys
sys.path.insert(0, "examples/verify")
sys.dont_write_bytecode = True
from base64 import b64decode as b
import verify as v
right = wrong = 0
for each in json.load(open(sys.argv[1])):
    size, root = v.signed_root(each["checkpoint"], sys.argv[2])
    path, proof = [b(x) for x in each["path"]], [b(x) for x in each["proof"]]
    old = b(each["old_root"])
    both = (old, old) if each["old_size"] == size else v.both_roots(each["old_size"], old, size, proof)
    right += v.root_from_leaf(b(each["leaf"]), each["index"], size, path) == root and both == (old, root)
    wrong += v.root_from_leaf(b(each["changed"]), each["index"], size, path) != root
print(f"{right} true, {wrong} false")
`;
