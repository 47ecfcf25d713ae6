import type { Cents } from "../domain/values/cents.js";
import type { RailInbox, StoredMessage } from "./ports/inbox.js";
import type { StoredPayment } from "./ports/payments.js";
import type { RailAccount } from "./ports/rail-accounts.js";
import type { SettlementTiming } from "./ports/runtime.js";
import { openPaymentOf } from "./schedule.js";

interface Asked {
  readonly payment: StoredPayment;
  readonly account: RailAccount;
}

/** What the stored messages of a rail say about an order, confirmed or not, settled or not. */
export class Evidence {
  readonly #inbox: RailInbox;
  readonly #timing: SettlementTiming;

  constructor({ inbox, timing }: { inbox: RailInbox; timing: SettlementTiming }) {
    this.#inbox = inbox;
    this.#timing = timing;
  }

  /** Returns the amount that messages name for a movement: first one that was not ordered. */
  async amountOf(movement: string | undefined, asked: Asked): Promise<Cents | undefined> {
    const order = openPaymentOf(asked.payment);
    const amounts = (await this.#received(asked)).flatMap((message) => {
      const report = asked.account.rail.read(message, order);
      return report?.kind === "succeeded" && report.movement === movement ? (report.amountCents ?? []) : [];
    });
    return amounts.find((cents) => cents !== asked.payment.amountCents) ?? amounts[0];
  }

  /**
   * Whether a message reports that the order has succeeded, or that it has failed: if a movement is
   * named, of this movement.
   */
  async says(kind: "succeeded" | "failed", asked: Asked, movement?: string): Promise<boolean> {
    const order = openPaymentOf(asked.payment);
    const reports = (await this.#received(asked)).map((message) => asked.account.rail.read(message, order));
    return reports.some(
      (report) => report?.kind === kind && (movement ?? report.movement) === (report.movement ?? movement),
    );
  }

  /**
   * Whether the rail has sent anything about the order by itself: then it has the order, whatever
   * became of the answer to the request. The result of a query proves nothing of the kind.
   */
  async hasOrder(asked: Asked): Promise<boolean> {
    return (await this.#received(asked)).some(({ purpose }) => purpose !== "status");
  }

  /** A sandbox stores messages before their time. Else a later time is that of another clock. */
  async #received({ payment: { transactionId }, account: { rail } }: Asked): Promise<readonly StoredMessage[]> {
    const stored = await this.#inbox.messages(transactionId);
    const now = this.#timing.now();
    return rail.messagesOf === undefined ? stored : stored.filter(({ receivedAt }) => receivedAt <= now);
  }
}
