import { createHash } from "node:crypto";

import type { ApiKeyRow } from "../sql/records/api-key-rows.js";

/** The number of keys that a look-up of a name reads at once. Most names have one key. */
export const GENERATIONS_READ = 8;

/** Reads the keys that have one of these `GENERATIONS_READ` hashes. */
export type ReadByHashes = (hashes: readonly string[]) => Promise<readonly ApiKeyRow[]>;

/** The keys that were made for one name of a certificate: their number, and the last one. */
export interface CertificateKeys {
  readonly count: number;
  readonly newest: ApiKeyRow | undefined;
}

/**
 * Finds the keys of a name. They are numbered from 0, because a hash is unique, and a revoked key
 * stays in the table for ever.
 */
export async function certificateKeys(name: string, read: ReadByHashes): Promise<CertificateKeys> {
  let newest: ApiKeyRow | undefined;
  for (let first = 0; ; first += GENERATIONS_READ) {
    const hashes = Array.from({ length: GENERATIONS_READ }, (_, index) => certificateHash(name, first + index));
    const rows = await read(hashes);
    newest = rows.find((row) => row.secret_sha256 === hashes[rows.length - 1]) ?? newest;
    if (rows.length < GENERATIONS_READ) return { count: first + rows.length, newest };
  }
}

/** Stands in the column of the secret's hash. No secret has this form. */
export function certificateHash(name: string, generation: number): string {
  return createHash("sha256")
    .update(`certificate ${String(generation)} ${name}`)
    .digest("hex");
}
