import type { TableKeys } from "../domain/decision.js";
import type { NumberedEntry, TableChanges } from "./ports/store.js";
import { RowChangedError } from "./row-changed-error.js";

const NO_ROWS: ReadonlySet<string> = new Set();

interface BatchRow<Row> {
  row: Row;
  /** The row as it was loaded. Undefined for a row that the batch created. */
  readonly before: Row | undefined;
  /** Undefined for a loaded row, and for a row that a replay created. */
  readonly createdBy: NumberedEntry | undefined;
  /** The last entry that changed it. */
  changedBy: NumberedEntry | undefined;
  isChanged: boolean;
}

/**
 * The rows of one table that a batch may read, with the changes of the batch's earlier commands.
 */
export class BatchTable<Row> {
  readonly #keys: TableKeys<Row>;
  readonly #changedRows: ReadonlySet<string>;
  readonly #rows = new Map<string, BatchRow<Row>>();
  readonly #rowsByName = new Map<string, BatchRow<Row>>();
  readonly #groups = new Map<string, BatchRow<Row>[]>();
  /** Ordered by their first change. */
  readonly #changed: BatchRow<Row>[] = [];

  /**
   * If the table refuses changed rows, each method that returns one of `changedRows` throws a
   * RowChangedError instead.
   */
  constructor(keys: TableKeys<Row>, loaded: readonly Row[], changedRows: ReadonlySet<string>) {
    this.#keys = keys;
    this.#changedRows = keys.refusesChanged === true ? changedRows : NO_ROWS;
    for (const row of loaded) {
      // Several look-ups may have found the same row.
      if (this.#rows.has(keys.keyOf(row))) continue;
      this.#add({ row, before: row, createdBy: undefined, changedBy: undefined, isChanged: false });
    }
  }

  get(key: string): Row | undefined {
    return this.#rowOf(this.#rows.get(key));
  }

  getByName(name: string): Row | undefined {
    return this.#rowOf(this.#rowsByName.get(name));
  }

  /** Returns the rows of a group: the loaded ones in the order of the load, then the new ones. */
  getGroup(group: string): readonly Row[] {
    return this.#groups.get(group)?.flatMap((kept) => this.#rowOf(kept) ?? []) ?? [];
  }

  /**
   * Inserts the row, or replaces the row that has the same key. `author` is the entry that does it,
   * if an entry does.
   */
  put(row: Row, author: NumberedEntry | undefined): void {
    let kept = this.#rows.get(this.#keys.keyOf(row));
    if (kept === undefined) {
      kept = { row, before: undefined, createdBy: author, changedBy: author, isChanged: false };
      this.#add(kept);
    }
    const [before, after] = [this.#keys.nameOf?.(kept.row), this.#keys.nameOf?.(row)];
    if (before !== undefined && after !== before) this.#rowsByName.delete(before);
    if (after !== undefined && after !== before) this.#rowsByName.set(after, kept);
    kept.row = row;
    kept.changedBy = author;
    if (kept.isChanged) return;
    kept.isChanged = true;
    this.#changed.push(kept);
  }

  /** Returns by how much the batch has changed the sum of an amount of all rows. */
  sumAdded(amountOf: (row: Row) => number): number {
    const amount = (row: Row | undefined): number => (row === undefined ? 0 : amountOf(row));
    return this.#changed.reduce((sum, { row, before }) => sum + amount(row) - amount(before), 0);
  }

  get isChanged(): boolean {
    return this.#changed.length > 0;
  }

  /** Returns each changed row once, with its last values. */
  changes(): TableChanges<Row> {
    const created: TableChanges<Row>["created"][number][] = [];
    const changed: TableChanges<Row>["changed"][number][] = [];
    for (const { row, before, createdBy, changedBy } of this.#changed) {
      if (before === undefined) created.push({ row, createdBy, changedBy });
      else changed.push({ before, row, changedBy });
    }
    return { created, changed };
  }

  #rowOf(kept: BatchRow<Row> | undefined): Row | undefined {
    if (kept === undefined || this.#changedRows.size === 0) return kept?.row;
    const key = this.#keys.keyOf(kept.row);
    if (this.#changedRows.has(key)) throw new RowChangedError(key);
    return kept.row;
  }

  #add(kept: BatchRow<Row>): void {
    this.#rows.set(this.#keys.keyOf(kept.row), kept);
    const name = this.#keys.nameOf?.(kept.row);
    if (name !== undefined) this.#rowsByName.set(name, kept);
    const group = this.#keys.groupOf?.(kept.row);
    if (group === undefined) return;
    const rows = this.#groups.get(group);
    if (rows === undefined) this.#groups.set(group, [kept]);
    else rows.push(kept);
  }
}
