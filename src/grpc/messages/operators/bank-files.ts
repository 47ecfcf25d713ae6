import type { BankFileRecord } from "../../../domain/bank-file.js";
import { formatCents } from "../../../domain/values/cents.js";
import type * as wire from "../../../gen/kesc/admin/v1/admin_service.js";
import type { ListedBankFile } from "../../../payouts/ports.js";
import { toTimestamp } from "../timestamp.js";

export function toBankFile(file: BankFileRecord & { readonly isLost: boolean }): wire.BankFile {
  const { id, sha256, count, amountCents, day, isLost } = file;
  return {
    id,
    sha256,
    count,
    amount: formatCents(amountCents),
    day,
    open_payments: undefined,
    downloads: undefined,
    is_lost: isLost,
    approved_at: undefined,
  };
}

export function toListedBankFile(file: ListedBankFile): wire.BankFile {
  const { openPayments: open_payments, downloads, approvedAt } = file;
  return { ...toBankFile(file), open_payments, downloads, approved_at: toTimestamp(approvedAt) };
}
