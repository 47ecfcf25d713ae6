import type { RefusedAct } from "../../operators/ports.js";
import type { OperatorRefusal } from "../../operators/refusal.js";
import { RefusedWriteError } from "../sql/store-error.js";

/** Undoes the transaction of an act that is refused. */
export class RefusedActError extends RefusedWriteError {
  readonly refusal: OperatorRefusal;

  constructor(refusal: OperatorRefusal) {
    super(refusal.reason);
    this.name = "RefusedActError";
    this.refusal = refusal;
  }
}

/** Does `work`. Returns the refusal if the act was refused. Rejects if anything else fails. */
export async function orRefusal<Result>(work: () => Promise<Result>): Promise<Result | RefusedAct> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RefusedActError) return { kind: "refused", refusal: error.refusal };
    throw error;
  }
}
