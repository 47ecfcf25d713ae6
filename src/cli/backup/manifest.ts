import { readFileSync } from "node:fs";

import * as z from "zod";

import { parseFields } from "../../rails/fields.js";
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

const MANIFEST = z.object({
  format: z.literal(FORMAT),
  kesc_version: z.string(),
  created_at: z.string().refine((text) => !Number.isNaN(Date.parse(text))),
  bytes: z.number(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  master_key_ids: z.array(z.string()),
  heads: z.array(z.string()),
});

export function manifestNameOf(backup: string): string {
  return `${backup}.json`;
}

/** The heads have the lines of `kesc verify --write-heads`. */
export function manifestJson(manifest: Manifest): Readonly<Record<string, unknown>> {
  const { kescVersion, createdAt, bytes, sha256, masterKeyIds, heads } = manifest;
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
  const read = MANIFEST.safeParse(parseFields(text));
  if (!read.success) return undefined;
  const { kesc_version: kescVersion, created_at: createdAt, master_key_ids: masterKeyIds, ...fields } = read.data;
  const { bytes, sha256, heads } = fields;
  try {
    const noted = parseHeads(heads.map((line) => `${line}\n`).join(""));
    return { kescVersion, createdAt, bytes, sha256, masterKeyIds, heads: noted };
  } catch (error) {
    if (error instanceof HeadsFileError) return undefined;
    throw error;
  }
}
