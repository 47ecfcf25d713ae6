import { formatCents } from "../../../domain/values/cents.js";
import type {
  GeneralLedgerLine as GeneralLedgerLineMessage,
  JournalLine as JournalLineMessage,
  StatementLine as StatementLineMessage,
} from "../../../gen/kesc/v1/statement.js";
import type { LedgerLine, StatementLine } from "../../../statements/exports.js";
import type { BookLine } from "../../../statements/ports.js";
import { totalOf } from "../../../statements/statement.js";
import { toTimestamp } from "../timestamp.js";

export function toStatementLine({ line, ...given }: StatementLine): StatementLineMessage {
  const { availableCents, heldCents } = given.balances;
  return {
    sequence: BigInt(given.seq),
    time: toTimestamp(given.time),
    kind: given.kind,
    transaction_id: line?.transactionId ?? "",
    reference: line?.reference ?? "",
    description: line?.description ?? "",
    receipt: line?.receipt ?? "",
    amount_in: formatGiven(given.inCents),
    amount_out: formatGiven(given.outCents),
    balance: formatCents(totalOf(given.balances)),
    available_balance: formatCents(availableCents),
    held_balance: formatCents(heldCents),
  };
}

export function toJournalLine(line: BookLine): JournalLineMessage {
  const { balancesAfter: after } = line;
  return {
    sequence: BigInt(line.seq),
    time: toTimestamp(line.recordedAt),
    kind: line.kind,
    account_id: line.accountId ?? "",
    transaction_id: line.transactionId ?? "",
    debit: line.debit ?? "",
    credit: line.credit ?? "",
    amount: formatGiven(line.amountCents),
    available_balance: formatGiven(after?.availableCents),
    held_balance: formatGiven(after?.heldCents),
    reference: line.reference,
    description: line.description,
    receipt: line.receipt,
    actor: line.actor,
    reason: line.reason,
  };
}

export function toGeneralLedgerLine({ line, ...given }: LedgerLine): GeneralLedgerLineMessage {
  const { balanceCents } = given;
  return {
    date: given.date,
    time: toTimestamp(given.time),
    sequence: BigInt(given.seq),
    kind: given.kind,
    account: given.account,
    debit: formatGiven(given.debitCents),
    credit: formatGiven(given.creditCents),
    balance: `${balanceCents < 0 ? "-" : ""}${formatCents(Math.abs(balanceCents))}`,
    reference: line?.reference ?? "",
    description: line?.description ?? "",
    receipt: line?.receipt ?? "",
    transaction_id: line?.transactionId ?? "",
    account_id: line?.accountId ?? "",
  };
}

/** An absent decimal is the empty text. */
function formatGiven(cents: number | undefined): string {
  return cents === undefined ? "" : formatCents(cents);
}
