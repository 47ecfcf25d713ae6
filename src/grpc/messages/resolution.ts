import type { Resolution } from "../../domain/payment.js";
import { parseReceiptText } from "../../domain/receipt.js";
import { parseAmount } from "../../domain/values/cents.js";
import type { ResolveTransactionRequest } from "../../gen/kesc/v1/transaction_service.js";
import { fieldProblem, type ParsedFields, parseFields } from "./fields.js";

/** Parses what became of the shillings of a transaction. */
export function parseResolution(outcome: ResolveTransactionRequest["outcome"]): ParsedFields<Resolution> {
  switch (outcome?.$case) {
    case undefined:
      return fieldProblem("completed", "is required if failed and moved are absent", "REQUIRED");
    case "completed": {
      const fields = parseFields({ "completed.rail_receipt": parseReceiptText(outcome.value.rail_receipt) });
      if (!fields.ok) return fields;
      return { ok: true, value: { kind: "COMPLETED", receipt: fields.value["completed.rail_receipt"] } };
    }
    case "failed":
      return { ok: true, value: { kind: "FAILED" } };
    case "moved": {
      const fields = parseFields({
        "moved.amount": parseAmount(outcome.value.amount),
        "moved.rail_receipt": parseReceiptText(outcome.value.rail_receipt),
      });
      if (!fields.ok) return fields;
      const { "moved.amount": amountCents, "moved.rail_receipt": receipt } = fields.value;
      return { ok: true, value: { kind: "MOVED", amountCents, receipt } };
    }
  }
}
