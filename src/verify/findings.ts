import type { ModelName } from "../model/tables.js";

/** The place of a finding inside a book. */
export interface Place {
  /**
   * The journal row that is wrong, or the last journal row that the table should reflect. Undefined
   * if there is no such row.
   */
  readonly seq: number | undefined;
  /**
   * "journal" if the journal itself is wrong, "schema" if a table differs from what the migrations
   * make. Otherwise the table that does not agree with the journal.
   */
  readonly table: ModelName | "schema";
  /** The id of an account, a transaction, an organization or a key, or the name of an object. */
  readonly id: string | undefined;
}

/** One error in the books. It never contains personal data. */
export interface Finding extends Place {
  /** The organization whose book is wrong. Undefined if there is no such organization. */
  readonly organizationId: string | undefined;
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
   * At most 20 findings. Findings in the journal come first, because they explain those in the
   * tables. Findings in the schema come last. Within each group the smallest `seq` comes first.
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

  /** Returns the findings of one organization's book. */
  of(organizationId: string | undefined): BookFindings {
    return new BookFindings(this, organizationId);
  }
}

/** Adds findings on one book. */
export class BookFindings {
  readonly #findings: Findings;
  readonly #organizationId: string | undefined;

  constructor(findings: Findings, organizationId: string | undefined) {
    this.#findings = findings;
    this.#organizationId = organizationId;
  }

  add(place: Place, { expected, found }: Pick<Finding, "expected" | "found">): void {
    this.#findings.add({ organizationId: this.#organizationId, ...place, expected, found });
  }

  /** Adds a finding on a row of the journal. `id` is that of the thing which the row is about. */
  onRow({ seq }: { readonly seq: number }, expected: string, found: string, id?: string): void {
    this.add({ seq, table: "journal", id }, { expected, found });
  }

  /** Returns whether there is such a thing. Adds a finding if there is none. */
  isThere<Thing>(place: Place, thing: Thing | null | undefined, expected: string): thing is Thing {
    const isThere = thing !== null && thing !== undefined;
    if (!isThere) this.add(place, { expected, found: "none" });
    return isThere;
  }

  /** Adds a finding if the two texts differ. */
  compare(place: Place, texts: Pick<Finding, "expected" | "found">): void {
    if (texts.expected !== texts.found) this.add(place, texts);
  }

  /** Adds a finding for each field whose two values differ: the expected one and the found one. */
  compareFields(place: Place, fields: Readonly<Record<string, readonly [expected: unknown, found: unknown]>>): void {
    for (const [name, [expected, found]] of Object.entries(fields)) {
      if (expected === found) continue;
      this.add(place, { expected: `${name} ${String(expected)}`, found: `${name} ${String(found)}` });
    }
  }
}

function comesBefore(left: Finding, right: Finding): boolean {
  if (rankOf(left) !== rankOf(right)) return rankOf(left) < rankOf(right);
  return (left.seq ?? Number.POSITIVE_INFINITY) < (right.seq ?? Number.POSITIVE_INFINITY);
}

function rankOf({ table }: Finding): number {
  if (table === "journal") return 0;
  return table === "schema" ? 2 : 1;
}
