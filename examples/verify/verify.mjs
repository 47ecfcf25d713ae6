// Checks that a row is in a book, without trusting the service: leaf → root → signature. Node alone suffices.
// node verify.mjs KEY proof.json            KEY is the verifier key that you trust, proof.json the answer of
//                                           GET /seals/inclusion-proof?transaction_id=…
// node verify.mjs KEY proof.json old.json   and that an earlier answer of GET /seals/checkpoint still holds;
//                                           consistency.json beside it: GET /seals/consistency-proof?old_size=…&size=…
//                                           from the size in old.json to the size in proof.json
import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();
const node = (left, right) => sha256(Buffer.of(1), left, right);
const bytes = (base64) => Buffer.from(base64, "base64");
const must = (is, words) => is || (console.error(`NO: ${words}`), process.exit(1));
const unless = (is, words) => is && (console.error(`NOT CHECKED: ${words}`), process.exit(2));

function signedRoot({ signed_note: note }, key) {
  const [, name, typed] = /^([^+]+)\+[0-9a-f]{8}\+(.+)$/.exec(key);
  const [text, signatures] = [note.slice(0, note.indexOf("\n\n") + 1), note.slice(note.indexOf("\n\n") + 2)];
  const spki = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), bytes(typed).subarray(1)]);
  const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" });
  const [origin, size, root] = text.split("\n");
  const lines = signatures.split("\n").filter((line) => line.startsWith(`— ${name} `));
  const isSigned = lines.some((line) =>
    verify(null, Buffer.from(text), publicKey, bytes(line.split(" ")[2]).subarray(4)),
  );
  must(isSigned && origin === name, "the key has not signed the note");
  return { size: Number(size), root: bytes(root) };
}

function rootFromLeaf(hash, index, size, proof) {
  for (let last = size - 1; last > 0; index = Math.floor(index / 2), last = Math.floor(last / 2)) {
    if (index % 2 === 1) hash = node(proof.shift(), hash);
    else if (index < last) hash = node(hash, proof.shift());
  }
  return must(proof.length === 0, "the proof is too long") && hash;
}

/** The roots of both trees that a consistency proof leads to (RFC 9162, 2.1.4.2). */
function bothRoots(old, size, proof) {
  let [index, last] = [old.size - 1, size - 1];
  while (index % 2 === 1) [index, last] = [Math.floor(index / 2), Math.floor(last / 2)];
  let [before, after] = Array(2).fill(index === 0 ? old.root : proof.shift());
  for (; last > 0; index = Math.floor(index / 2), last = Math.floor(last / 2)) {
    if (index % 2 === 1) [before, after] = [node(proof[0], before), node(proof.shift(), after)];
    else if (index < last) after = node(after, proof.shift());
  }
  return must(proof.length === 0, "the proof is too long") && { before, after };
}

const [key, file, oldFile] = process.argv.slice(2);
const { leaf, leaf_index, hashes, checkpoint } = JSON.parse(readFileSync(file));
const { size, root } = signedRoot(checkpoint, key);
const found = rootFromLeaf(sha256(Buffer.of(0), Buffer.from(leaf.text)), Number(leaf_index), size, hashes.map(bytes));
must(found.equals(root), "the row is not in the book");
const [, organization, seq, , account, transaction, , kind, , credit, cents, balance] = JSON.parse(leaf.text);
must(
  key.split("+")[0].endsWith(`/${organization}`) && Number(seq) === Number(leaf_index) + 1,
  "the row is of another place",
);
const money = (text) => (Number(text) / 100).toLocaleString("en", { minimumFractionDigits: 2 });
console.log(
  `YES: row ${seq} of ${size} says ${kind}: ${money(cents)} to ${credit} of ${account} (${transaction}), then ${money(balance)}`,
);
if (oldFile !== undefined) {
  const old = signedRoot(JSON.parse(readFileSync(oldFile)), key);
  unless(old.size > size, "old.json is newer than proof.json: fetch proof.json again");
  const consistency = JSON.parse(readFileSync(join(dirname(oldFile), "consistency.json")));
  const isOther = old.size < size && Number(consistency.checkpoint.size) !== size;
  unless(isOther, `fetch consistency.json again, with old_size=${old.size}&size=${size}`);
  const proof = consistency.hashes.map(bytes);
  const { before, after } = old.size === size ? { before: old.root, after: old.root } : bothRoots(old, size, proof);
  must(before.equals(old.root) && after.equals(root), "rows of the earlier checkpoint were changed");
  console.log(`YES: the first ${old.size} rows are those of the earlier checkpoint`);
}
