/** One error in the books. */
export interface Finding {
  /**
   * The journal row that is wrong, or the last journal row that the table should reflect. Undefined
   * if there is no such row.
   */
  readonly seq: number | undefined;
  /**
   * "journal" if the journal itself is wrong. Otherwise the table that does not agree with the
   * journal.
   */
  readonly table: "journal" | "books" | "accounts" | "transactions";
  /** The id of the account, transaction or organization. */
  readonly id: string | undefined;
  readonly expected: string;
  readonly found: string;
}

const KEPT_MAX = 20;

/** Counts all findings and keeps the first 20. */
export class Findings {
  readonly #kept: Finding[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /**
   * At most 20 findings. Findings in the journal come first, because they explain the others.
   * Within each group the smallest `seq` comes first.
   */
  get first(): readonly Finding[] {
    return this.#kept;
  }

  add(finding: Finding): void {
    this.#count += 1;
    const index = this.#kept.findIndex((kept) => comesBefore(finding, kept));
    if (index !== -1) this.#kept.splice(index, 0, finding);
    else if (this.#kept.length < KEPT_MAX) this.#kept.push(finding);
    if (this.#kept.length > KEPT_MAX) this.#kept.pop();
  }

  /** Adds the finding if `expected` and `found` differ. */
  compare(finding: Finding): void {
    if (finding.expected !== finding.found) this.add(finding);
  }
}

function comesBefore(left: Finding, right: Finding): boolean {
  if ((left.table === "journal") !== (right.table === "journal")) return left.table === "journal";
  return (left.seq ?? Number.POSITIVE_INFINITY) < (right.seq ?? Number.POSITIVE_INFINITY);
}
