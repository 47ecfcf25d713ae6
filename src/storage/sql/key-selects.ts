import type { Engine } from "./engine.js";

const NAME_COLUMNS = { book: "int64", name: "text" } as const;

/** The SELECTs of keys that the reads of several tables share. Each has one parameter. */
export interface KeySelects {
  /** The ids themselves, in a column `value`. */
  readonly list: string;
  /** A table expression: the pairs of a book and a name in it. */
  readonly pairs: string;
  /** The resources of idempotency keys. */
  readonly keyed: string;
  /** The accounts of users. */
  readonly used: string;
  /** The accounts with deposit references. */
  readonly referred: string;
}

export function keySelects({ input, jsonItems, lookedUp, table }: Engine): KeySelects {
  const list = `SELECT value FROM ${jsonItems("?")}`;
  const pairs = input(NAME_COLUMNS);
  const keyed = `
    SELECT resource_id FROM ${pairs}
    ${lookedUp(table("idempotency_keys"), "k", "k.book = input.book AND k.key = input.name")}`;
  const used = `
    SELECT h.account_id FROM ${pairs}
    ${lookedUp(table("account_holders"), "h", "h.book = input.book AND h.user_id = input.name AND h.is_open = 1")}`;
  const referred = `
    SELECT a.id FROM ${pairs}
    ${lookedUp(table("accounts"), "a", "a.book = input.book AND a.deposit_reference = input.name")}`;
  return { list, pairs, keyed, used, referred };
}
