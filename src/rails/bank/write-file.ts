import { type CsvCell, csvRows, Digits } from "../../../runtime/csv.js";
import { endToEndIdOf } from "../../domain/bank-file.js";
import { bankAccountOf } from "../../domain/destination.js";
import { addCents, type Cents, formatCents } from "../../domain/values/cents.js";
import type { PaymentFile } from "../rail.js";
import { painFile } from "./pain001.js";
import type { BankSettings, ColumnValue } from "./settings.js";
import type { WrittenFile, WrittenPayment } from "./written.js";

/**
 * Writes the file. Equal payments and settings give equal bytes, in whatever order they come: a
 * bank knows a file that it has had by these. No schema checks the sum or the payees, so this does.
 *
 * Throws for a file without payments, with one twice, or with a payee that is not whole.
 */
export function writtenFile({ id, createdAt, day, payments }: PaymentFile, settings: BankSettings): Buffer {
  const sorted = payments.toSorted((one, other) => (one.transactionId < other.transactionId ? -1 : 1));
  const written = sorted.map(({ transactionId, amountCents, number }): WrittenPayment => {
    const payee = bankAccountOf(number);
    if (amountCents <= 0 || Object.values(payee).some((part) => part === "")) {
      throw new Error(`the payment ${transactionId} has no amount, or no whole payee`);
    }
    return { ...payee, reference: endToEndIdOf(transactionId), amount: formatCents(amountCents) };
  });
  if (written.length === 0 || new Set(written.map(({ reference }) => reference)).size !== written.length) {
    throw new Error(`the file ${id} has no payment, or one twice`);
  }
  const sumCents = sorted.reduce((sum, { amountCents }) => addCents(sum, amountCents), 0 as Cents);
  const file = { id, createdAt, day, payments: written, sum: formatCents(sumCents) };
  return Buffer.from(settings.form === "csv" ? tableOf(file, settings) : painFile(file, settings), "utf8");
}

function tableOf({ day, payments }: WrittenFile, { columns = [], account }: BankSettings): string {
  const valuesOf = (payment: WrittenPayment): Readonly<Record<ColumnValue, CsvCell>> => ({
    reference: payment.reference,
    amount: new Digits(payment.amount),
    currency: "KES",
    day,
    holder: payment.holder,
    account: payment.account,
    bank_code: payment.bankCode,
    branch_code: payment.branchCode,
    bank_and_branch_code: payment.bankCode + payment.branchCode,
    payer_account: account,
  });
  const rows = payments.map((payment) => {
    const values = valuesOf(payment);
    return columns.map(({ value, text = "" }) => (value === undefined ? text : values[value]));
  });
  return csvRows([columns.map(({ name }) => name), ...rows]);
}
