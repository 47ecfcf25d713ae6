import type { TableChanges } from "./ports/store.js";

/** The unique keys of a table's rows. */
export interface BatchTableKeys<Row> {
  readonly keyOf: (row: Row) => string;
  /** A second unique name of the row. */
  readonly nameOf?: (row: Row) => string;
}

interface BatchRow<Row> {
  row: Row;
  /** The row as it was loaded. Undefined for a row that the batch created. */
  readonly before: Row | undefined;
  /** Index of the journal entry that created the row. Unused for a loaded row. */
  readonly entryIndex: number;
  isChanged: boolean;
}

/**
 * The rows of one table that a batch may read, with the changes of the batch's earlier commands.
 */
export class BatchTable<Row> {
  readonly #keys: BatchTableKeys<Row>;
  readonly #rows = new Map<string, BatchRow<Row>>();
  readonly #rowsByName = new Map<string, BatchRow<Row>>();
  /** Ordered by their first change. */
  readonly #changed: BatchRow<Row>[] = [];

  constructor(keys: BatchTableKeys<Row>, loaded: readonly Row[]) {
    this.#keys = keys;
    for (const row of loaded) this.#add({ row, before: row, entryIndex: -1, isChanged: false });
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key)?.row;
  }

  getByName(name: string): Row | undefined {
    return this.#rowsByName.get(name)?.row;
  }

  /**
   * Inserts the row, or replaces the row that has the same key. `entryIndex` is used only for an
   * insert.
   */
  put(row: Row, entryIndex: number): void {
    let kept = this.#rows.get(this.#keys.keyOf(row));
    if (kept === undefined) {
      kept = { row, before: undefined, entryIndex, isChanged: false };
      this.#add(kept);
    }
    kept.row = row;
    if (kept.isChanged) return;
    kept.isChanged = true;
    this.#changed.push(kept);
  }

  get isChanged(): boolean {
    return this.#changed.length > 0;
  }

  /** Returns each changed row once, with its last values. */
  changes(): TableChanges<Row> {
    const created: TableChanges<Row>["created"][number][] = [];
    const changed: TableChanges<Row>["changed"][number][] = [];
    for (const { row, before, entryIndex } of this.#changed) {
      if (before === undefined) created.push({ row, entryIndex });
      else changed.push({ before, row });
    }
    return { created, changed };
  }

  #add(kept: BatchRow<Row>): void {
    this.#rows.set(this.#keys.keyOf(kept.row), kept);
    if (this.#keys.nameOf !== undefined) this.#rowsByName.set(this.#keys.nameOf(kept.row), kept);
  }
}
