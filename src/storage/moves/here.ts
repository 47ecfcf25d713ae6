import type { Engine } from "../sql/engine.js";

/**
 * Returns the condition that a book, which the statement names `b`, is kept in this cell. Another
 * place keeps a book that has left, or that is not open here yet.
 */
export function isKeptHere({ table }: Pick<Engine, "table">): string {
  return `NOT EXISTS (SELECT 1 FROM ${table("book_moves")} m WHERE m.book = b.number AND m.phase <> 'LEAVING')`;
}
