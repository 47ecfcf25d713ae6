// Checks the pack of a month, without trusting the service. Node alone suffices.
// node month.mjs PACK KEY    KEY is the verifier key of the book, from a place that you trust: not from the pack
import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { inflateRawSync } from "node:zlib";

const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();
const node = (left, right) => sha256(Buffer.of(1), left, right);
const bytes = (base64) => Buffer.from(base64, "base64");
const must = (is, words) => is || (console.error(`NO: ${words}`), process.exit(1));
process.on("uncaughtException", ({ message }) => must(false, `the file is no pack of a month: ${message}`));
const cents = (amount) => BigInt(Math.round(Number(amount ?? 0) * 100));

/** The files of a ZIP: its end names the list, and the list where each file begins. */
function unzipped(zip) {
  const end = zip.length - 22;
  must(end >= 0 && zip.readUInt32LE(end) === 0x06054b50, "the file is no ZIP, or is not whole");
  const files = new Map();
  for (let at = zip.readUInt32LE(end + 16), left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [nameBytes, extraBytes] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30)];
    const name = zip.toString("utf8", at + 46, at + 46 + nameBytes);
    const head = zip.readUInt32LE(at + 42);
    const start = head + 30 + zip.readUInt16LE(head + 26) + zip.readUInt16LE(head + 28);
    const packed = zip.subarray(start, start + zip.readUInt32LE(at + 20));
    must(!files.has(name), `the pack has ${name} twice`);
    const isDeflated = zip.readUInt16LE(at + 10) === 8;
    files.set(name, () => (isDeflated ? inflateRawSync(packed) : packed));
    at += 46 + nameBytes + extraBytes + zip.readUInt16LE(at + 32);
  }
  return files;
}

/** The text of a note that the key has signed. */
function signedText(note, key) {
  const [, name, typed] = /^([^+]+)\+[0-9a-f]{8}\+(.+)$/.exec(key);
  const [text, signatures] = [note.slice(0, note.indexOf("\n\n") + 1), note.slice(note.indexOf("\n\n") + 2)];
  const spki = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), bytes(typed).subarray(1)]);
  const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" });
  const lines = signatures.split("\n").filter((line) => line.startsWith(`— ${name} `));
  const isSigned = (line) => verify(null, Buffer.from(text), publicKey, bytes(line.split(" ")[2]).subarray(4));
  must(lines.some(isSigned), "the key has not signed the note");
  return { name, lines: text.split("\n") };
}

function rootFromLeaf(hash, index, size, proof) {
  for (let last = size - 1; last > 0; index = Math.floor(index / 2), last = Math.floor(last / 2)) {
    if (index % 2 === 1) hash = node(proof.shift(), hash);
    else if (index < last) hash = node(hash, proof.shift());
  }
  return must(proof.length === 0, "the proof is too long") && hash;
}

const [pack, key] = process.argv.slice(2);
must(/^[^+]+\+[0-9a-f]{8}\+.+$/.test(key), "name the pack, and the key that you trust");
const files = unzipped(readFileSync(pack));
const fileOf = (name) => (must(files.has(name), `the pack has no ${name}`), files.get(name)());
const text = fileOf("manifest.json");
const manifest = JSON.parse(text);
const { log, month, organization_id: organization, first_sequence: first, last_sequence: last } = manifest;

const note = signedText(fileOf("manifest.note").toString(), key);
const said = ["kesc-month-1", log, month, sha256(text).toString("base64"), ""];
must(note.name === log && note.lines.join() === said.join(), "the note is about another manifest");
must(log.endsWith(`/${organization}`), "the log is that of another organization");

const listed = new Set(["manifest.json", "manifest.note", ...manifest.files.map(({ name }) => name)]);
for (const name of files.keys()) must(listed.has(name), `the manifest does not name ${name}`);
for (const { name, sha256: hash } of manifest.files) {
  must(sha256(fileOf(name)).toString("hex") === hash, `${name} was changed`);
}

const checkpoint = signedText(fileOf("checkpoint").toString(), key);
const [origin, size, root] = checkpoint.lines;
must(origin === log && Number(size) === manifest.checkpoint_size, "the checkpoint is another one");
const { leaf, leaf_index: index, hashes } = JSON.parse(fileOf("proof.json"));
const [, of, sequence] = JSON.parse(leaf.text);
must(of === organization && Number(sequence) === last && index === last - 1, "the proof is about another row");
const found = rootFromLeaf(sha256(Buffer.of(0), Buffer.from(leaf.text)), index, Number(size), hashes.map(bytes));
must(found.equals(bytes(root)), "the last row of the month is not in the checkpoint");

const lines = (name) =>
  fileOf(name)
    .toString()
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const assets = new Set(["reserve", "shortfall", "charges"]);
const sums = { journal: {}, ledger: {} };
const post = (sum, account, debit) => (sum[account] = (sum[account] ?? 0n) + (assets.has(account) ? debit : -debit));
let next = first;
for (const { sequence: row, debit_account: debit, credit_account: credit, amount } of lines("journal.ndjson")) {
  must(row === next, `the journal lacks row ${next}`);
  next += 1;
  if (debit === null) continue;
  post(sums.journal, debit, cents(amount));
  post(sums.journal, credit, -cents(amount));
}
must(next === last + 1, "the journal ends at another row");
for (const { type, book_account: account, debit, credit } of lines("general-ledger.ndjson")) {
  if (type !== "opening" && type !== "closing") post(sums.ledger, account, cents(debit) - cents(credit));
}
const supply = JSON.parse(fileOf("supply.json"));
for (const account of Object.keys(supply.closing)) {
  const moved = cents(supply.closing[account]) - cents(supply.opening[account]);
  const is = [sums.journal[account] ?? 0n, sums.ledger[account] ?? 0n].every((sum) => sum === moved);
  must(is, `journal, ledger and supply move another sum of ${account}`);
}
console.log(`YES: ${month} of ${organization}, rows ${first} to ${last}, as the key has signed it`);
