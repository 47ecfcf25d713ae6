import type { PublishedBook } from "../../published-copy.js";
import type { AuditedBook } from "../book.js";
import { GrowingTree } from "./tree.js";

/** Compares the rows of a book with a published copy, and names the first row that differs. */
export class PublishedCheck {
  readonly #book: AuditedBook;
  readonly #copy: PublishedBook;
  /** The tree over the hashes of the copy: it must have the root of the published checkpoint. */
  readonly #tree = new GrowingTree();
  /** The smallest size at which the copy has another root than a witness has cosigned. */
  #otherSize: number | undefined;
  #firstSeq: number | undefined;
  #different = 0;
  #last = 0;

  constructor(book: AuditedBook, copy: PublishedBook) {
    this.#book = book;
    this.#copy = copy;
  }

  row(seq: number, leaf: Buffer): void {
    const { size } = this.#copy.checkpoint;
    if (seq > size) return;
    this.#last = seq;
    const published = this.#published(seq);
    if (published?.equals(leaf) === true) return;
    this.#firstSeq ??= seq;
    this.#different += 1;
  }

  end(): void {
    const { size, root } = this.#copy.checkpoint;
    for (let seq = this.#last + 1; seq <= size; seq++) this.#published(seq);
    const place = { table: "journal", id: undefined } as const;
    const { findings } = this.#book;
    if (!this.#copy.isSigned) {
      findings.add(
        { ...place, seq: size },
        { expected: "a published checkpoint that our key signed", found: "another" },
      );
    }
    if (this.#tree.size !== size || this.#tree.root() !== Buffer.from(root).toString("hex")) {
      const found = "tiles that are missing or give another root";
      findings.add(
        { ...place, seq: size },
        { expected: "published tiles that give the root of their checkpoint", found },
      );
      return;
    }
    const otherSize = this.#otherSize ?? this.#copy.cosigned.find((cosigned) => cosigned.size > size)?.size;
    if (otherSize !== undefined) {
      const found = otherSize > size ? "a published copy that ends before it" : "published rows with another root";
      findings.add({ ...place, seq: otherSize }, { expected: "the checkpoint that a witness cosigned", found });
    }
    if (this.#firstSeq !== undefined) {
      const found = `another row: altered, removed or put in (${String(this.#different)} of ${String(size)} rows differ)`;
      findings.add({ ...place, seq: this.#firstSeq }, { expected: "the row that was published", found });
    }
    if (this.#last >= size) return;
    const found = `the book ends at seq ${String(this.#last)}, so ${String(size - this.#last)} published rows are missing`;
    findings.add({ ...place, seq: this.#last + 1 }, { expected: "the row that was published", found });
  }

  #published(seq: number): Buffer | undefined {
    const published = this.#copy.leaf(seq - 1);
    if (published !== undefined && this.#tree.size === seq - 1) {
      this.#tree.add(published);
      for (const { size, root } of this.#copy.cosigned) {
        if (size === seq && Buffer.from(root).toString("hex") !== this.#tree.root()) this.#otherSize ??= seq;
      }
    }
    return published;
  }
}
