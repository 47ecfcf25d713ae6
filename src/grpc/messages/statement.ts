import { formatCents } from "../../domain/values/cents.js";
import type { StatementLine as StatementLineMessage } from "../../gen/kesc/v1/statement.js";
import type { BookLine } from "../../statements/ports.js";
import { movementOf, totalOf } from "../../statements/statement.js";
import { toTimestamp } from "./timestamp.js";

export function toStatementLine(line: BookLine): StatementLineMessage {
  const { inCents, outCents } = movementOf(line);
  const { balancesAfter: after } = line;
  return {
    sequence: BigInt(line.seq),
    time: toTimestamp(line.recordedAt),
    kind: line.kind,
    transaction_id: line.transactionId ?? "",
    reference: line.reference,
    description: line.description,
    receipt: line.receipt,
    amount_in: inCents === 0 ? "" : formatCents(inCents),
    amount_out: outCents === 0 ? "" : formatCents(outCents),
    balance: after === undefined ? "" : formatCents(totalOf(after)),
    available_balance: after === undefined ? "" : formatCents(after.availableCents),
    held_balance: after === undefined ? "" : formatCents(after.heldCents),
  };
}
