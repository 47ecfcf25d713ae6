import { type BookSums, ofEachAccount } from "../../../domain/book.js";
import type { ClosedMonth } from "../../../domain/closing.js";
import { maskPersonsIn } from "../../../domain/values/masked-phone.js";
import { periodOfMonth } from "../../../domain/values/month.js";
import { FORMAT, type MonthManifest, signedManifest } from "../../../months/manifest.js";
import type { SealKeys } from "../../../seals/key-file.js";
import { keysOfLog, verifierKeyOf } from "../../../seals/note.js";
import { inclusionProof } from "../../../seals/proofs.js";
import { sumsAsOf } from "../../../statements/as-of.js";
import type { RecordedFigure } from "../../../statements/ports.js";
import { reserveAsOf } from "../../../statements/reserve-history.js";
import { formatSigned } from "../../messages/history/supply.js";
import type { OperatorCaller } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";
import type { FoundMonth } from "./month-facts.js";
import { hashedFiles, type MonthRows } from "./month-files.js";
import { openItems } from "./open-items.js";

interface NewPack extends HandlersOptions {
  readonly caller: OperatorCaller;
  readonly rows: MonthRows;
  readonly facts: FoundMonth & { readonly keys: SealKeys };
}

/** Makes each file of the pack once, and signs what they are. Returns what the closing keeps. */
export async function newPack(options: NewPack): Promise<ClosedMonth> {
  const { seals, kescVersion, caller, rows, facts } = options;
  const { history, month } = rows;
  const { organizationId } = history;
  const { period, book, seal, keys } = facts;
  if (seal === undefined) throw new Error("a month without a seal has an obstacle");
  const { start, end } = periodOfMonth(month);
  const log = `${seals.origin}/${organizationId}`;
  const opening = await sumsAsOf(history, period.afterSeq);
  const closing = await sumsAsOf(history, period.toSeq);
  const sealReads = seals.reads(caller.organization);
  const leaf = await sealReads.leaf(book, period.toSeq);
  if (leaf === undefined) throw new Error("a sealed row is missing");
  const { hashes } = await inclusionProof(sealReads, book, { seq: period.toSeq, size: seal.size });
  const before = await reserveAsOf(history, start);
  const texts = {
    keys: keysOfLog(keys, { organizationId, size: seal.size })
      .map((key) => `${verifierKeyOf(log, key)}\n`)
      .join(""),
    checkpoint: seal.note,
    "proof.json": jsonOf({
      leaf: { sequence: period.toSeq, text: leaf.text },
      leaf_index: period.toSeq - 1,
      hashes: hashes.map((bytes) => Buffer.from(bytes).toString("base64")),
    }),
    "supply.json": jsonOf({
      start: new Date(start).toISOString(),
      end: new Date(end).toISOString(),
      opening: balancesOf(opening.sums),
      closing: balancesOf(closing.sums),
      minted: formatSigned(closing.turnover.minted - opening.turnover.minted),
      redeemed: formatSigned(closing.turnover.redeemed - opening.turnover.redeemed),
    }),
    "reserve.json": jsonOf({ opening: before.map(figureOf), closing: facts.figures.map(figureOf) }),
    "reconciliation.json": jsonOf(facts.statements.map(({ report }) => report)),
    "open.json": jsonOf(await openItems({ ...options, history, end })),
  };
  const files = await hashedFiles(texts, rows);
  const manifest: MonthManifest = {
    format: FORMAT,
    kesc_version: kescVersion,
    organization_id: organizationId,
    month,
    log,
    first_sequence: period.afterSeq + 1,
    last_sequence: period.toSeq,
    rows: facts.rows,
    checkpoint_size: seal.size,
    opening: balancesOf(opening.sums),
    closing: balancesOf(closing.sums),
    files,
  };
  const text = jsonOf(manifest);
  const kept = {
    "manifest.json": text,
    "manifest.note": signedManifest(text, month, { log, privateKey: keys.privateKey }),
    ...texts,
  };
  return { month, lastSeq: period.toSeq, kept };
}

function balancesOf(sums: BookSums): Readonly<Record<string, string>> {
  return ofEachAccount((account) => formatSigned(sums[account]));
}

function figureOf({ place, amountCents, asOfDay, evidence, kind, documentSha256, maturesOn }: RecordedFigure): object {
  return {
    place,
    kind,
    amount: formatSigned(amountCents),
    as_of_day: asOfDay,
    evidence: maskPersonsIn(evidence),
    document_sha256: documentSha256 ?? null,
    matures_on: maturesOn ?? null,
  };
}

function jsonOf(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
