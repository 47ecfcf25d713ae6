import { BANK_RAIL, type TransactionType } from "../../domain/transaction.js";
import type { PayableAmounts } from "../../domain/values/payable-amounts.js";
import type { BalanceAnswer, Capabilities, PaymentFile, PaymentRail, RailReport, Sent } from "../rail.js";
import type { BankSettings } from "./settings.js";
import { writtenFile } from "./write-file.js";

const DAY_MILLIS = 86_400_000;
/** A payment without an outcome after this time is one for a person. */
const OUTCOME_MILLIS = 3 * DAY_MILLIS;
/** No phone is one: a bank pays to accounts at banks. */
const NO_PHONE = /^(?!)/;

/**
 * A bank that gets payouts in files, and tells outcomes in its statements. It is asked nothing: a
 * person brings what a statement says to the ledger (docs/adr/0082).
 */
export class BankRail implements PaymentRail {
  readonly name = BANK_RAIL;
  readonly checkAfterMillis = [OUTCOME_MILLIS];
  readonly #settings: BankSettings;

  constructor(settings: BankSettings) {
    this.#settings = settings;
  }

  capabilities(direction: TransactionType): Capabilities {
    const { min: minCents, max: maxCents } = this.#settings.limits;
    const amounts: PayableAmounts = { minCents, maxCents, stepCents: 1 as PayableAmounts["stepCents"] };
    const toPhones = { ...amounts, phoneNumbers: NO_PHONE };
    return direction === "MINT" ? toPhones : { ...toPhones, destinations: { BANK: amounts } };
  }

  writeFile(file: PaymentFile): Buffer {
    return writtenFile(file, this.#settings);
  }

  /** Nobody calls it: the orders go in files. */
  send(): Promise<Sent> {
    return Promise.resolve({ kind: "unreached", code: "SENT_IN_FILES", retryAfterMillis: DAY_MILLIS });
  }

  query(): Promise<RailReport> {
    return Promise.resolve({ kind: "open", code: "NO_STATEMENT_YET" });
  }

  read(): undefined {
    return undefined;
  }

  askBalance(): Promise<BalanceAnswer> {
    return Promise.resolve({ kind: "unavailable", code: "BANK_TELLS_NO_BALANCE" });
  }

  readBalance(): undefined {
    return undefined;
  }
}
