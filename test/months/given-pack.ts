import { writeFileSync } from "node:fs";

import { FORMAT, type MonthManifest, signedManifest } from "../../src/months/manifest.js";
import { hashedText, type PackFile, zipOf } from "../../src/months/pack.js";
import { leafHash, nodeHash } from "../../src/seals/merkle.js";
import { signedNote, verifierKeyOf } from "../../src/seals/note.js";
import { SEAL_KEY, SEAL_PUBLIC_KEY } from "../support/seals/given-seals.js";

const ORGANIZATION = "org_01jd2r6p5vf8ksw3xhb1z7q4ye";
const LOG = `kesc.example.com/${ORGANIZATION}`;
export const KEY = verifierKeyOf(LOG, SEAL_PUBLIC_KEY);

/** The texts of the files of a pack, by their names. */
export type PackTexts = Readonly<Record<string, string>>;

const BALANCES = {
  reserve: "0.00",
  shortfall: "0.00",
  charges: "0.00",
  available: "0.00",
  held: "0.00",
  unallocated: "0.00",
};
const CLOSING = { ...BALANCES, reserve: "15.50", available: "15.50" };
const leafText = (sequence: number): string => JSON.stringify(["kesc-row-1", ORGANIZATION, String(sequence)]);

/** The checkpoint of the first rows of the book, and the proof that the last one is in it. */
function sealed(size: 2 | 4, last: 2 | 4) {
  const leaves = [1, 2, 3, 4].map((sequence) => leafHash(leafText(sequence)));
  const [one, two, three, four] = leaves as [Buffer, Buffer, Buffer, Buffer];
  const [left, right] = [nodeHash(one, two), nodeHash(three, four)];
  const root = size === 2 ? left : nodeHash(left, right);
  const hashes = size === 2 ? [one] : last === 2 ? [one, right] : [three, left];
  return {
    checkpoint: signedNote({ origin: LOG, size, root }, SEAL_KEY),
    "proof.json": JSON.stringify({
      leaf: { sequence: last, text: leafText(last) },
      leaf_index: last - 1,
      hashes: hashes.map((hash) => Buffer.from(hash).toString("base64")),
    }),
  };
}

const row = (sequence: number, amount: number): object => ({
  sequence,
  debit_account: "reserve",
  credit_account: "available",
  amount,
});
const sides = (sequence: number, amount: number): readonly object[] => [
  { sequence, type: "transaction.completed", book_account: "reserve", debit: amount, credit: null },
  { sequence, type: "transaction.completed", book_account: "available", debit: null, credit: amount },
];
const ndjson = (lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

/** A month of rows 3 and 4 in a book of four rows. */
export const MONTH: PackTexts = {
  ...sealed(4, 4),
  "supply.json": JSON.stringify({ opening: BALANCES, closing: CLOSING }),
  "journal.ndjson": ndjson([row(3, 10), row(4, 5.5)]),
  "general-ledger.ndjson": ndjson([
    { type: "opening", book_account: "reserve", debit: null, credit: null },
    ...sides(3, 10),
    ...sides(4, 5.5),
  ]),
};
/** Those of the month before. */
const OF_EARLIER_MONTH: PackTexts = sealed(2, 2);

/** Adds the manifest of these files, and the note about it. */
export function signed(given: PackTexts, changes: Partial<MonthManifest> = {}): PackTexts {
  const texts = { keys: `${KEY}\n`, ...given };
  const manifest: MonthManifest = {
    format: FORMAT,
    kesc_version: "0.1.0",
    organization_id: ORGANIZATION,
    month: "2026-10",
    log: LOG,
    first_sequence: 3,
    last_sequence: 4,
    rows: 2,
    checkpoint_size: 4,
    opening: BALANCES,
    closing: CLOSING,
    files: Object.entries(texts).map(([name, text]) => hashedText(name, text)),
    ...changes,
  };
  const text = JSON.stringify(manifest);
  const note = signedManifest(text, manifest.month, { log: manifest.log, privateKey: SEAL_KEY });
  return { "manifest.json": text, "manifest.note": note, ...texts };
}

export async function writePack(path: string, texts: PackTexts): Promise<void> {
  const parts: Uint8Array[] = [];
  for await (const part of zipOf(filesOf(texts), [])) parts.push(part);
  writeFileSync(path, Buffer.concat(parts));
}

function filesOf(texts: PackTexts): readonly PackFile[] {
  return Object.entries(texts).map(([name, text]) => ({
    name,
    async *parts() {
      yield await Promise.resolve(text);
    },
  }));
}

function changed(texts: PackTexts, name: string, change: (text: string) => string): PackTexts {
  const before = texts[name] ?? "";
  const after = change(before);
  if (after === before) throw new Error(`nothing of ${name} was changed`);
  return { ...texts, [name]: after };
}

/** Each way to forge a pack, what `kesc close --check` says of it, and what the script says. */
export function forgeries(): readonly Forgery[] {
  return FORGERIES;
}

type Forgery = readonly [what: string, texts: () => PackTexts, said: string, script: string];

const FORGERIES: readonly Forgery[] = [
  [
    "a changed amount",
    () => changed(signed(MONTH), "journal.ndjson", (text) => text.replace("5.5", "6.5")),
    "The file journal.ndjson was changed.",
    "journal.ndjson was changed",
  ],
  [
    "a removed row",
    () => changed(signed(MONTH), "journal.ndjson", (text) => text.slice(text.indexOf("\n") + 1)),
    "The file journal.ndjson was changed.",
    "journal.ndjson was changed",
  ],
  [
    "a swapped file",
    () => {
      const texts = signed(MONTH);
      return { ...texts, "general-ledger.ndjson": texts["journal.ndjson"] ?? "" };
    },
    "The file general-ledger.ndjson was changed.",
    "general-ledger.ndjson was changed",
  ],
  [
    "another month's checkpoint",
    () => ({ ...signed(MONTH), ...OF_EARLIER_MONTH }),
    "The file checkpoint was changed.",
    "checkpoint was changed",
  ],
  [
    "a manifest that was written again",
    () =>
      changed(signed(changed(MONTH, "journal.ndjson", (text) => text.replace("5.5", "6.5"))), "manifest.note", () =>
        signedManifest("{}", "2026-10", { log: LOG, privateKey: SEAL_KEY }),
      ),
    "The key has not signed the manifest.",
    "the note is about another manifest",
  ],
  [
    "a swapped list of keys",
    () => changed(signed(MONTH), "keys", (text) => text.replace(/[0-9a-f]{8}/, "0badc0de")),
    "The file keys was changed.",
    "keys was changed",
  ],
  [
    "a file that is missing",
    () => {
      const texts = signed(MONTH);
      return Object.fromEntries(Object.entries(texts).filter(([name]) => name !== "supply.json"));
    },
    "The file supply.json is missing.",
    "the pack has no supply.json",
  ],
  [
    "a file more",
    () => ({ ...signed(MONTH), "letter.txt": "from nobody" }),
    "The manifest does not name the file letter.txt.",
    "the manifest does not name letter.txt",
  ],
  // The rest has a true signature: the service itself would be wrong.
  [
    "a signed amount that the ledger lacks",
    () => signed(changed(MONTH, "journal.ndjson", (text) => text.replace("5.5", "6.5"))),
    "The journal moves another sum of reserve than the manifest says.",
    "journal, ledger and supply move another sum of reserve",
  ],
  [
    "a signed journal without a row",
    () => signed(changed(MONTH, "journal.ndjson", (text) => text.slice(text.indexOf("\n") + 1))),
    "The journal lacks row 3.",
    "the journal lacks row 3",
  ],
  [
    "a signed journal that ends early",
    () => signed(changed(MONTH, "journal.ndjson", (text) => text.slice(0, text.indexOf("\n") + 1))),
    "The journal ends at another row than the manifest says.",
    "the journal ends at another row",
  ],
  [
    "a signed checkpoint of another month",
    () => signed({ ...MONTH, ...OF_EARLIER_MONTH }),
    "The checkpoint is another one than the manifest names.",
    "the checkpoint is another one",
  ],
  [
    "a signed proof of another row",
    () => signed({ ...MONTH, ...sealed(4, 2) }),
    "The proof is about another row than the last one of the month.",
    "the proof is about another row",
  ],
  [
    "a signed proof that leads elsewhere",
    () => signed(changed(MONTH, "proof.json", (text) => text.replace(/"hashes":\["./, '"hashes":["/'))),
    "The last row of the month is not in the checkpoint.",
    "the last row of the month is not in the checkpoint",
  ],
  [
    "the log of another organization",
    () => signed(MONTH, { organization_id: "org_01jd2r6p5vf8ksw3xhb1z7q4yf" }),
    "The log is that of another organization.",
    "the log is that of another organization",
  ],
];
