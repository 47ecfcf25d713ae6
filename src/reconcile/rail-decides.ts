import type { NamedTransaction } from "./reconciliation.js";

/**
 * Whether the rail alone decides about a payment that the book lacks, and that names the
 * transaction. `listed` has the receipts that the rail lists. The book may have the same shillings
 * under a receipt that a person mistyped. To book them again would credit them twice, so a person
 * decides.
 */
export function railDecides(
  { type, status, railReceipt, failure }: NamedTransaction,
  listed: ReadonlySet<string>,
): boolean {
  // A payer may type any reference. What came in must not end a payout.
  if (type !== "MINT") return false;
  switch (status) {
    case "PENDING":
    case "CANCELED":
      return false;
    case "PROCESSING":
      return true;
    case "COMPLETED":
      return railReceipt === undefined || listed.has(railReceipt);
    case "FAILED":
      // An operator has booked what really moved.
      return failure !== "REPORT_DIFFERS";
  }
}
