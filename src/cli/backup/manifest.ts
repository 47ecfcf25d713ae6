import { readFileSync } from "node:fs";

import { OperatorError } from "../../startup/operator-error.js";
import { formatHeads, HeadsFileError, type NotedHeads, parseHeads } from "../../verify/heads.js";
import type { FileDigest } from "./new-file.js";

/** Describes a backup. It lies beside the backup, and holds no key and no personal data. */
export interface Manifest extends FileDigest {
  /** The version of KESC that made the backup. */
  readonly kescVersion: string;
  /** The moment whose state the backup has, as RFC 3339. */
  readonly createdAt: string;
  /** The ids of the master keys that the books need. */
  readonly masterKeyIds: readonly string[];
  readonly heads: NotedHeads;
}

const FORMAT = "kesc-backup-1";
const SHA256 = /^[0-9a-f]{64}$/;

export function manifestNameOf(backup: string): string {
  return `${backup}.json`;
}

/** The heads have the lines of `kesc verify --write-heads`. */
export function manifestJson({
  kescVersion,
  createdAt,
  bytes,
  sha256,
  masterKeyIds,
  heads,
}: Manifest): Readonly<Record<string, unknown>> {
  return {
    format: FORMAT,
    kesc_version: kescVersion,
    created_at: createdAt,
    bytes,
    sha256,
    master_key_ids: masterKeyIds,
    heads: formatHeads(heads.values()).split("\n").slice(0, -1),
  };
}

/** Returns the manifest of a backup. Throws an OperatorError if it is missing or malformed. */
export function readManifest(backup: string): Manifest {
  const name = manifestNameOf(backup);
  let text: string;
  try {
    text = readFileSync(name, "utf8");
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new OperatorError(
      `The manifest ${name} ${isMissing ? "does not exist" : "cannot be read"}. It shows whether the backup is whole. ` +
        "Put it beside the backup. Without it, --without-manifest restores any copy whose books verify.",
      1,
      { cause: error },
    );
  }
  const manifest = manifestOf(text);
  if (manifest !== undefined) return manifest;
  throw new OperatorError(
    `${name} is not the manifest of a backup that this version of kesc can read. Take another copy of it.`,
  );
}

function manifestOf(text: string): Manifest | undefined {
  const fields = objectIn(text);
  if (fields?.["format"] !== FORMAT) return undefined;
  const { kesc_version: kescVersion, created_at: createdAt, bytes, sha256 } = fields;
  const masterKeyIds = textsOf(fields["master_key_ids"]);
  const heads = headsOf(textsOf(fields["heads"]));
  if (typeof kescVersion !== "string" || typeof createdAt !== "string" || Number.isNaN(Date.parse(createdAt))) {
    return undefined;
  }
  if (typeof bytes !== "number" || typeof sha256 !== "string" || !SHA256.test(sha256)) return undefined;
  if (masterKeyIds === undefined || heads === undefined) return undefined;
  return { kescVersion, createdAt, bytes, sha256, masterKeyIds, heads };
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined;
}

function headsOf(lines: readonly string[] | undefined): NotedHeads | undefined {
  try {
    return lines === undefined ? undefined : parseHeads(lines.map((line) => `${line}\n`).join(""));
  } catch (error) {
    if (error instanceof HeadsFileError) return undefined;
    throw error;
  }
}
