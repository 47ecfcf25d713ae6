import { createHash } from "node:crypto";

import { leafHash, nodeHash } from "../seals/merkle.js";
import { isSignedBy, parseSignedNote, parseVerifierKey } from "../seals/note.js";
import { type BookBalances, FORMAT, isManifestSigned, type MonthManifest } from "./manifest.js";
import { PackError, ZipReader } from "./zip-reader.js";

/** The files that the manifest cannot name: itself, and its signature. */
const UNLISTED = ["manifest.json", "manifest.note"] as const;
const ASSETS: ReadonlySet<string> = new Set(["reserve", "shortfall", "charges"]);

/** A pack that was checked. */
export interface CheckedPack {
  readonly manifest: MonthManifest;
  /** Sentences for people. Empty if all holds. */
  readonly problems: readonly string[];
}

/** The proof that the last row of the month is in the checkpoint. */
interface RowProof {
  readonly leaf: { readonly text: string };
  readonly leaf_index: number;
  readonly hashes: readonly string[];
}

type SumsOfAccounts = Record<string, bigint>;

/**
 * Checks a pack without a database: the signature of its manifest, the hash of each file, the
 * checkpoint, the proof of the last row, and that journal and ledger sum to the same. Without
 * `trusted` it takes the keys of the pack. Anybody can make a key and sign a pack of their own, so
 * that proves only that the pack agrees with itself.
 *
 * Rejects with a PackError if the file is no pack.
 */
export async function checkPack(path: string, trusted: readonly Uint8Array[] | undefined): Promise<CheckedPack> {
  const pack = await ZipReader.open(path);
  try {
    const text = await pack.text("manifest.json");
    const manifest = manifestIn(text);
    const keys = trusted ?? keysIn(await pack.text("keys"));
    const { log, month } = manifest;
    const problems: string[] = [];
    const isSigned = isManifestSigned(text, { note: await pack.text("manifest.note"), log, month, keys });
    if (!isSigned) problems.push("The key has not signed the manifest.");
    if (!log.endsWith(`/${manifest.organization_id}`)) problems.push("The log is that of another organization.");
    problems.push(...(await fileProblems(pack, manifest)));
    // What another file says is no evidence.
    if (problems.length > 0) return { manifest, problems };
    problems.push(...checkpointProblems(manifest, keys, await pack.text("checkpoint"), await pack.text("proof.json")));
    problems.push(...(await sumProblems(pack, manifest)));
    return { manifest, problems };
  } finally {
    await pack.close();
  }
}

function manifestIn(text: string): MonthManifest {
  let manifest: Partial<MonthManifest> | null;
  try {
    manifest = JSON.parse(text) as Partial<MonthManifest> | null;
  } catch (error) {
    throw new PackError("its manifest is no JSON", { cause: error });
  }
  const isOfForm = manifest?.format === FORMAT && typeof manifest.log === "string" && Array.isArray(manifest.files);
  if (!isOfForm) throw new PackError(`its manifest is not of the form ${FORMAT}`);
  return manifest as MonthManifest;
}

function keysIn(text: string): readonly Uint8Array[] {
  return text.split("\n").flatMap((line) => parseVerifierKey(line) ?? []);
}

async function fileProblems(pack: ZipReader, { files }: MonthManifest): Promise<readonly string[]> {
  const problems: string[] = [];
  const listed = new Set<string>([...UNLISTED, ...files.map(({ name }) => name)]);
  for (const name of pack.names) if (!listed.has(name)) problems.push(`The manifest does not name the file ${name}.`);
  for (const { name, bytes, sha256 } of files) {
    if (!pack.names.includes(name)) {
      problems.push(`The file ${name} is missing.`);
      continue;
    }
    const hash = createHash("sha256");
    let length = 0;
    for await (const part of pack.parts(name)) {
      hash.update(part);
      length += part.length;
    }
    if (length !== bytes || hash.digest("hex") !== sha256) problems.push(`The file ${name} was changed.`);
  }
  return problems;
}

function checkpointProblems(
  { log, organization_id: organization, last_sequence: last, checkpoint_size: size }: MonthManifest,
  keys: readonly Uint8Array[],
  note: string,
  proof: string,
): readonly string[] {
  const checkpoint = parseSignedNote(note);
  if (checkpoint === undefined || checkpoint.origin !== log || !isSignedBy(checkpoint, keys)) {
    return ["The key has not signed the checkpoint of this book."];
  }
  if (checkpoint.size !== size || size < last) return ["The checkpoint is another one than the manifest names."];
  const { leaf, leaf_index: index, hashes } = JSON.parse(proof) as RowProof;
  const [, of, sequence] = JSON.parse(leaf.text) as readonly string[];
  if (of !== organization || Number(sequence) !== last || index !== last - 1) {
    return ["The proof is about another row than the last one of the month."];
  }
  const root = rootOf(leafHash(leaf.text), { index, size, hashes });
  return root?.equals(checkpoint.root) === true ? [] : ["The last row of the month is not in the checkpoint."];
}

/** Returns the root to which a proof leads (RFC 6962, 2.1.1). Undefined: its length is wrong. */
function rootOf(
  leaf: Buffer,
  { index: at, size, hashes }: { readonly index: number; readonly size: number; readonly hashes: readonly string[] },
): Buffer | undefined {
  const proof = hashes.map((hash) => Buffer.from(hash, "base64"));
  let root = leaf;
  let index = at;
  for (let last = size - 1; last > 0; last = Math.floor(last / 2), index = Math.floor(index / 2)) {
    if (index % 2 === 0 && index === last) continue;
    const next = proof.shift();
    if (next === undefined) return undefined;
    root = index % 2 === 1 ? nodeHash(next, root) : nodeHash(root, next);
  }
  return proof.length === 0 ? root : undefined;
}

async function sumProblems(pack: ZipReader, manifest: MonthManifest): Promise<readonly string[]> {
  const problems: string[] = [];
  const journal: SumsOfAccounts = {};
  let next = manifest.first_sequence;
  for await (const line of linesOf(pack, "journal.ndjson")) {
    if (line["sequence"] !== next) problems.push(`The journal lacks row ${String(next)}.`);
    next = Number(line["sequence"]) + 1;
    const { debit_account: debit, credit_account: credit } = line;
    if (typeof debit !== "string" || typeof credit !== "string") continue;
    add(journal, debit, ASSETS.has(debit) ? centsOf(line["amount"]) : -centsOf(line["amount"]));
    add(journal, credit, ASSETS.has(credit) ? -centsOf(line["amount"]) : centsOf(line["amount"]));
  }
  if (next !== manifest.last_sequence + 1) problems.push("The journal ends at another row than the manifest says.");
  const ledger: SumsOfAccounts = {};
  for await (const line of linesOf(pack, "general-ledger.ndjson")) {
    const account = String(line["book_account"]);
    if (line["type"] === "opening" || line["type"] === "closing") continue;
    const cents = centsOf(line["debit"] ?? 0) - centsOf(line["credit"] ?? 0);
    add(ledger, account, ASSETS.has(account) ? cents : -cents);
  }
  const supply = JSON.parse(await pack.text("supply.json")) as Readonly<Record<"opening" | "closing", BookBalances>>;
  for (const [account, closing] of Object.entries(manifest.closing)) {
    const moved = centsOf(closing) - centsOf(manifest.opening[account] ?? "0");
    const [ofJournal, ofLedger] = [journal[account] ?? 0n, ledger[account] ?? 0n];
    const ofSupply = centsOf(supply.closing[account] ?? "0") - centsOf(supply.opening[account] ?? "0");
    if (ofJournal !== moved) problems.push(`The journal moves another sum of ${account} than the manifest says.`);
    if (ofLedger !== moved) problems.push(`The general ledger moves another sum of ${account} than the journal.`);
    if (ofSupply !== moved) problems.push(`The supply moves another sum of ${account} than the journal.`);
  }
  return problems.slice(0, PROBLEMS_MAX);
}

const PROBLEMS_MAX = 20;

async function* linesOf(pack: ZipReader, name: string): AsyncGenerator<Readonly<Record<string, unknown>>, void, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of pack.parts(name)) {
    const lines = (rest + decoder.decode(part, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as Readonly<Record<string, unknown>>;
  }
}

function add(sums: SumsOfAccounts, account: string, cents: bigint): void {
  sums[account] = (sums[account] ?? 0n) + cents;
}

/** A number of an export has at most 15 digits, so it is exact to the cent. */
function centsOf(amount: unknown): bigint {
  return BigInt(Math.round(Number(amount) * 100));
}
