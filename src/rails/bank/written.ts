import type { BankAccount } from "../../domain/destination.js";
import type { PaymentFile } from "../rail.js";

/** A payment as the file has it. */
export interface WrittenPayment extends BankAccount {
  readonly reference: string;
  readonly amount: string;
}

/** What a file has, in words. */
export interface WrittenFile extends Pick<PaymentFile, "id" | "createdAt" | "day"> {
  readonly payments: readonly WrittenPayment[];
  readonly sum: string;
}
