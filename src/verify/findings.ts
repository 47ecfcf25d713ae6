/** One thing that does not hold. */
export interface Finding {
  /**
   * The row of the journal that is broken, or after which the table disagrees; undefined where no
   * row tells.
   */
  readonly seq: number | undefined;
  /**
   * The journal is broken in itself, or one of the tables that sum it up does not agree with it.
   */
  readonly table: "journal" | "supply" | "accounts" | "transactions";
  /** The id of what it is about. */
  readonly id: string | undefined;
  readonly expected: string;
  readonly found: string;
}

const KEPT_MAX = 20;

/** What does not hold: all of it counted, and the first of it kept. */
export class Findings {
  readonly #kept: Finding[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /**
   * At most 20: broken rows of the journal first, since they explain the rest; in each part the
   * smallest `seq` first.
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

  /** Adds a finding unless both texts are the same. */
  compare(finding: Finding): void {
    if (finding.expected !== finding.found) this.add(finding);
  }
}

function comesBefore(left: Finding, right: Finding): boolean {
  if ((left.table === "journal") !== (right.table === "journal")) return left.table === "journal";
  return (left.seq ?? Number.POSITIVE_INFINITY) < (right.seq ?? Number.POSITIVE_INFINITY);
}
