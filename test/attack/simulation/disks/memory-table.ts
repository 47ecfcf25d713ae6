import { TABLE_KEYS, type TableKeys, type TableName, type Tables } from "../../../../src/domain/decision.js";
import type { TableChanges } from "../../../../src/ledger/ports/store.js";
import { mustBeStored } from "../../../support/stored.js";
import type { Stored } from "./disk.js";
import { CHECKS, require } from "./memory-constraints.js";

/** The memory twin of one table. Each read adds what it looked for to `reads`. */
export class MemoryTable<Name extends TableName> {
  readonly rows = new Map<string, Stored<Tables[Name]>>();
  readonly #name: Name;
  readonly #keys: TableKeys<Tables[Name]>;
  readonly #keysByName = new Map<string, string>();

  constructor(name: Name) {
    this.#name = name;
    this.#keys = TABLE_KEYS[name];
  }

  read(keys: Iterable<string>, reads: Set<string>): Stored<Tables[Name]>[] {
    return [...new Set(keys)].flatMap((key) => {
      reads.add(this.#readOfKey(key));
      return this.rows.get(key) ?? [];
    });
  }

  /** The key of the row with that name. */
  find(name: string, reads: Set<string>): readonly string[] {
    reads.add(this.#readOfName(name));
    const key = this.#keysByName.get(name);
    return key === undefined ? [] : [key];
  }

  /**
   * The rows of the groups that a decision sees, in the order in which they came. Whoever changes
   * one of them also changes a row that is read with the group: the account, or the book.
   */
  readGroups(groups: ReadonlySet<string>): readonly Stored<Tables[Name]>[] {
    if (groups.size === 0) return [];
    const { groupOf, isSeen = () => true } = this.#keys;
    return [...this.rows.values()].filter((row) => groups.has(groupOf?.(row) ?? "") && isSeen(row));
  }

  check({ created, changed }: TableChanges<Tables[Name]>): void {
    // As in the database, a change comes before an insert: it may free a name.
    const freed = new Set(changed.map(({ before }) => this.#nameOf(before)));
    for (const { before, row } of changed) {
      freed.delete(this.#nameOf(row));
      mustBeStored(this.#name, before, row);
      CHECKS[this.#name]?.(row);
    }
    for (const { row } of created) {
      const name = this.#nameOf(row);
      require(!this.rows.has(this.#keys.keyOf(row)), `PRIMARY KEY ${this.#name}`);
      require(name === undefined || freed.has(name) || !this.#keysByName.has(name), `UNIQUE ${this.#name}`);
      CHECKS[this.#name]?.(row);
    }
  }

  /** Returns the keys and names whose rows a reader would now find changed. */
  commit({ created, changed }: TableChanges<Tables[Name]>): readonly string[] {
    const touched: string[] = [];
    for (const { row } of changed) {
      const before = this.rows.get(this.#keys.keyOf(row));
      if (before !== undefined) this.#put({ seq: before.seq, ...row }, this.#nameOf(before), touched);
    }
    // A proposal names its own row: another one may have replaced that which created it.
    for (const { row, createdBy } of created) this.#put({ seq: createdBy?.seq ?? 0, ...row }, undefined, touched);
    return touched;
  }

  #put(row: Stored<Tables[Name]>, nameBefore: string | undefined, touched: string[]): void {
    const [key, name] = [this.#keys.keyOf(row), this.#nameOf(row)];
    Object.freeze(row);
    this.rows.set(key, row);
    touched.push(this.#readOfKey(key));
    if (name === nameBefore) return;
    if (nameBefore !== undefined) this.#keysByName.delete(nameBefore);
    if (name !== undefined) this.#keysByName.set(name, key);
    for (const each of [nameBefore, name]) if (each !== undefined) touched.push(this.#readOfName(each));
  }

  #nameOf(row: Tables[Name]): string | undefined {
    return this.#keys.nameOf?.(row);
  }

  #readOfKey(key: string): string {
    return `${this.#name} ${key}`;
  }

  #readOfName(name: string): string {
    return `${this.#name} named ${name}`;
  }
}
