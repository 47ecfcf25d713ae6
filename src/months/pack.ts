import { createHash } from "node:crypto";

import { ZipParts } from "../statements/forms/zip-parts.js";

/** The bytes of a file, in parts. A text is UTF-8. */
export type PackParts = AsyncIterable<string | Uint8Array>;

/** A file of a pack, which can be made again and again. */
export interface PackFile {
  readonly name: string;
  readonly parts: () => PackParts;
}

/** A file of a pack is no longer what the manifest says. */
export class PackDiffersError extends Error {
  readonly file: string;

  constructor(file: string) {
    super(`the file ${file} of the pack is not as the manifest says`);
    this.file = file;
  }
}

/** What the manifest says of a file. */
export interface HashedFile {
  readonly name: string;
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** A workbook is a ZIP itself. */
const PACKED = /\.xlsx$/;

/** Hashes a file part by part. */
export class FileHash {
  readonly #hash = createHash("sha256");
  #bytes = 0;

  add(part: string | Uint8Array): void {
    this.#hash.update(part);
    this.#bytes += Buffer.byteLength(part);
  }

  of(name: string): HashedFile {
    return { name, bytes: this.#bytes, sha256: this.#hash.digest("hex") };
  }
}

export function hashedText(name: string, text: string): HashedFile {
  const hash = new FileHash();
  hash.add(text);
  return hash.of(name);
}

/**
 * Writes files as one ZIP, part by part, so its memory does not grow with the files. The same files
 * make the same bytes. Throws a PackDiffersError once a file is not as the manifest says.
 */
export async function* zipOf(
  files: readonly PackFile[],
  manifest: readonly HashedFile[],
): AsyncGenerator<Uint8Array, void, void> {
  const hashes = new Map(manifest.map((file) => [file.name, file]));
  const zip = new ZipParts();
  for (const { name, parts } of files) {
    const hash = createHash("sha256");
    const push = zip.add(name, { isPacked: PACKED.test(name) });
    for await (const part of parts()) {
      hash.update(part);
      push(part);
      const bytes = zip.taken();
      if (bytes.length > 0) yield bytes;
    }
    push("", true);
    const expected = hashes.get(name);
    if (expected !== undefined && expected.sha256 !== hash.digest("hex")) {
      throw new PackDiffersError(name);
    }
  }
  zip.end();
  yield zip.taken();
}
