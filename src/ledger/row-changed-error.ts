/**
 * A command reads a row that somebody has changed past the service. The ledger refuses it with
 * ROW_CHANGED.
 */
export class RowChangedError extends Error {
  constructor(readonly id: string) {
    super(`the row of ${id} was changed past the service`);
    this.name = "RowChangedError";
  }
}
