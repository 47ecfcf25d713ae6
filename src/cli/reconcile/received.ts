import { slicesOf } from "../../../runtime/slices.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { PaymentRail, ReceivedPayment, UncreditedRow } from "../../rails/rail.js";
import type { NightRow } from "../../reconcile/lost-night.js";
import type { BookedMovements } from "../../reconcile/ports.js";
import type { UnnamedMovement } from "../../reconcile/reconcile.js";
import type { ReconciledPeriod } from "../../reconcile/reconciliation.js";
import { SLICE_ROWS } from "../../reconcile/statement-movements.js";
import { OperatorError } from "../../startup/operator-error.js";

const HOUR_MILLIS = 3_600_000;
// The reports of newer payments may be on their way, and the rail lists a payment some time later.
const UNDER_WAY_MILLIS = 300_000;
const PULL_MILLIS_MAX = 600_000;

/** The period of which `--pull` asks: the last hours, without the last five minutes. */
export function pulledPeriod(now: UnixMillis, hours: number): ReconciledPeriod {
  return { from: toUnixMillis(now - hours * HOUR_MILLIS), to: toUnixMillis(now - UNDER_WAY_MILLIS) };
}

export interface Received {
  readonly payments: readonly ReceivedPayment[];
  /** The rows that credit nobody. They are shown, and not compared. */
  readonly others: readonly UncreditedRow[];
}

/** Asks the rail what came in. Throws an OperatorError if it does not list all of it. */
export async function pullReceived(rail: PaymentRail, period: ReconciledPeriod): Promise<Received> {
  if (rail.receivedPayments === undefined) {
    throw new OperatorError(`The rail ${rail.name} does not list what came in. Name the file of a statement.`);
  }
  const received = await rail.receivedPayments(period, AbortSignal.timeout(PULL_MILLIS_MAX));
  if (received.kind === "complete") {
    const { payments, others = [] } = received;
    if (received.unreadable.length === 0) return { payments, others };
    const names = received.unreadable.map(({ receipt }) => receipt ?? "one without a receipt").join(", ");
    throw new OperatorError(
      `The rail ${rail.name} listed what cannot be read: ${names}. Nothing was compared. ` +
        `Compare a statement: kesc reconcile ${rail.name} FILE`,
    );
  }
  throw new OperatorError(
    `The rail ${rail.name} did not list what came in: ${received.code}. Nothing was compared. ` +
      "The account must be registered once: kesc rail register-pull --help",
  );
}

/** Returns the payments in slices, as the comparison takes them. */
export function* receivedMovements(payments: readonly ReceivedPayment[]): Generator<readonly UnnamedMovement[]> {
  for (const slice of slicesOf(payments, SLICE_ROWS)) yield slice.map(movementOf);
}

function movementOf({ receipt, amountCents, idEnd, receivedAt }: ReceivedPayment): UnnamedMovement {
  const named = { transactionId: undefined, idEnd, linkedReceipt: undefined };
  return { receipt, completedAt: receivedAt, direction: "in", amountCents, kind: "pay_in", ...named };
}

/** Returns a payment as the search for a lost night takes it. */
export function nightRowOf(payment: ReceivedPayment): NightRow {
  const { receivedAt: completedAt, ...row } = payment;
  return { ...row, completedAt, direction: "in", kind: "pay_in", linkedReceipt: undefined };
}

/** Returns the book without what went out: the rail lists only what came in. */
export function onlyReceived(book: BookedMovements): BookedMovements {
  return {
    ...book,
    async *within(period) {
      for await (const slice of book.within(period)) yield slice.filter(({ direction }) => direction === "in");
    },
  };
}
