import { readFileSync, statSync } from "node:fs";

import { codeOf, createOwnerOnlyFile, replaceOwnerOnlyFile } from "../../runtime/files/owner-only-file.js";

/** The newest seal of a book that the sealer knows. */
export interface RememberedSeal {
  readonly size: number;
  /** In hexadecimal. */
  readonly root: string;
}

/** What a sealer remembers outside the database: who can delete seals there cannot change it. */
export interface SealMemory {
  of(organizationId: string): RememberedSeal | undefined;
  /** Remembers these seals, by the organization's id. */
  add(seals: ReadonlyMap<string, RememberedSeal>): void;
}

const LINE = /^(org_[0-9a-z]+) ([1-9][0-9]{0,15}) ([0-9a-f]{64})$/;

/** A file beside the seal key file, with a line for each book: "org_… 600 <root>". */
export class SealMemoryFile implements SealMemory {
  readonly #filename: string;
  readonly #onProblem: (error: unknown) => void;
  #read: { readonly version: string; readonly seals: ReadonlyMap<string, RememberedSeal> } | undefined;
  /** Takes the place of the file once it could not be written. */
  #unwritten: ReadonlyMap<string, RememberedSeal> | undefined;

  /** `onProblem` hears once that the file cannot be written, and why. */
  constructor(keyFile: string, onProblem: (error: unknown) => void) {
    this.#filename = `${keyFile}.seals`;
    this.#onProblem = onProblem;
  }

  /** Throws if the file is malformed or cannot be read. */
  of(organizationId: string): RememberedSeal | undefined {
    return this.#seals().get(organizationId);
  }

  add(seals: ReadonlyMap<string, RememberedSeal>): void {
    if (seals.size > 0) this.#write(new Map([...this.#seals(), ...seals]));
  }

  /** Returns false if it remembers no seal of the book. Throws if the file cannot be written. */
  forget(organizationId: string): boolean {
    const seals = new Map(this.#seals());
    const isKnown = seals.delete(organizationId);
    if (isKnown) writeSeals(this.#filename, seals);
    return isKnown;
  }

  #seals(): ReadonlyMap<string, RememberedSeal> {
    if (this.#unwritten !== undefined) return this.#unwritten;
    const file = statSync(this.#filename, { throwIfNoEntry: false });
    // Another process may have replaced it: a second server, or `kesc seal clear`.
    const version = file === undefined ? "" : [file.ino, file.mtime.toISOString(), file.size].join(" ");
    if (this.#read?.version !== version) {
      this.#read = { version, seals: file === undefined ? new Map() : readSeals(this.#filename) };
    }
    return this.#read.seals;
  }

  #write(seals: ReadonlyMap<string, RememberedSeal>): void {
    if (this.#unwritten === undefined) {
      try {
        writeSeals(this.#filename, seals);
        return;
      } catch (error) {
        this.#onProblem(error);
      }
    }
    this.#unwritten = seals;
  }
}

function readSeals(filename: string): ReadonlyMap<string, RememberedSeal> {
  const lines = readFileSync(filename, "utf8").split("\n").slice(0, -1);
  return new Map(
    lines.map((line, index) => {
      const [, organizationId = "", size, root = ""] = LINE.exec(line) ?? [];
      if (size === undefined) throw new Error(`${filename}: line ${String(index + 1)} is no seal`);
      return [organizationId, { size: Number(size), root }];
    }),
  );
}

function writeSeals(filename: string, seals: ReadonlyMap<string, RememberedSeal>): void {
  const text = Array.from(seals, ([id, { size, root }]) => `${id} ${String(size)} ${root}\n`).join("");
  try {
    replaceOwnerOnlyFile(filename, text);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    createOwnerOnlyFile(filename, text);
  }
}
