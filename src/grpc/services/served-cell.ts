import type { ApiKey } from "../../domain/api-key.js";
import type { Ledger } from "../../ledger/ledger.js";
import type { Reads } from "../../ledger/ports/reads.js";

/** One cell, as the services use it. */
export interface ServedCell {
  readonly ledger: Pick<Ledger, "submit">;
  readonly reads: Reads;
}

/** Returns the cell that holds the book of the key's organization. */
export type CellOf = (key: Pick<ApiKey, "cell">) => ServedCell;
