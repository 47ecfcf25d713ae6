import { slicesOf } from "../../../runtime/slices.js";
import type { RailReceipt } from "../../domain/payment.js";
import { chargeReceiptOf } from "../../domain/receipt.js";
import type { Rail } from "../../domain/transaction.js";
import type { Actor } from "../../domain/values/actor.js";
import type { Cents } from "../../domain/values/cents.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { messageOf } from "../../grpc/errors/status.js";
import type { BookedMovements } from "../../reconcile/ports.js";
import { SLICE_ROWS, type StatementCharge } from "../../reconcile/statement-movements.js";
import { OperatorError } from "../../startup/operator-error.js";
import type { Cell } from "../../storage/database.js";
import { commitAsOperator } from "../commit-as-operator.js";

interface ChargesOptions {
  readonly cell: Pick<Cell, "committer">;
  readonly organizationId: OrganizationId;
  /** The rail that says so: the author in the journal. */
  readonly rail: Rail;
  readonly book: BookedMovements;
  /** A larger charge stays a break: charges must not hide a theft. */
  readonly chargeMaxCents: Cents;
}

/**
 * Books each charge that the book lacks, if the book has the movement that it is for, and if it is
 * not above the maximum. All others stay breaks. Returns how many it booked. A second run books
 * none.
 */
export async function applyCharges(
  charges: ReadonlyMap<RailReceipt, StatementCharge>,
  { cell, organizationId, rail, book, chargeMaxCents }: ChargesOptions,
): Promise<number> {
  const bookable = [...charges].filter(([, { cents }]) => cents !== 0 && Math.abs(cents) <= chargeMaxCents);
  let booked = 0;
  for (const slice of slicesOf(bookable, SLICE_ROWS)) {
    const names = slice.flatMap(([receipt]) => [receipt, chargeReceiptOf(receipt)]);
    const known = new Set((await book.withReceipts(names)).map(({ receipt }) => receipt));
    for (const [movement, { cents }] of slice) {
      if (!known.has(movement) || known.has(chargeReceiptOf(movement))) continue;
      const outcome = await commitAsOperator(cell, {
        name: "recordCharge",
        organizationId,
        actor: rail as string as Actor,
        movement,
        direction: cents < 0 ? "out" : "in",
        amountCents: Math.abs(cents) as Cents,
      });
      if (outcome.kind === "refused") throw new OperatorError(`${movement}: ${messageOf(outcome.refusal)}`);
      if (!outcome.replayed) booked += 1;
    }
  }
  return booked;
}
