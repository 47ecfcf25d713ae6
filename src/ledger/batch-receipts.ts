import type { UsedReceipt } from "../domain/decision.js";
import { numberOfOtherSource } from "../domain/receipt.js";

/** The receipts that a batch has loaded or made, of all its books. */
export class BatchReceipts {
  readonly #receipts = new Map<string, UsedReceipt>();
  /** The receipts whose source is a caller's word, by the number. */
  readonly #byNumber = new Map<string, UsedReceipt>();

  add(used: UsedReceipt): void {
    const { organizationId, receipt } = used;
    this.#receipts.set(`${organizationId}\n${receipt}`, used);
    const number = numberOfOtherSource(receipt);
    if (number === undefined) return;
    const name = `${organizationId}\n${number}`;
    const before = this.#byNumber.get(name);
    if (before === undefined || receipt < before.receipt) this.#byNumber.set(name, used);
  }

  get(name: string): UsedReceipt | undefined {
    return this.#receipts.get(name);
  }

  withNumber(name: string): UsedReceipt | undefined {
    return this.#byNumber.get(name);
  }
}
