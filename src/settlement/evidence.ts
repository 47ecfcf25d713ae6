import type { Report } from "../rails/rail.js";
import type { RailInbox, StoredMessage } from "./ports/inbox.js";
import type { StoredPayment } from "./ports/payments.js";
import type { RailAccount } from "./ports/rail-accounts.js";
import type { Timing } from "./ports/runtime.js";
import { openPaymentOf } from "./schedule.js";

interface Asked {
  readonly payment: StoredPayment;
  readonly account: RailAccount;
}

/** What the stored messages of a rail say about an order, confirmed or not, settled or not. */
export class Evidence {
  readonly #inbox: RailInbox;
  readonly #timing: Timing;

  constructor({ inbox, timing }: { inbox: RailInbox; timing: Timing }) {
    this.#inbox = inbox;
    this.#timing = timing;
  }

  /** Whether a message reports that the order has succeeded, or that it has failed. */
  async says(kind: Report["kind"], { payment, account }: Asked): Promise<boolean> {
    const asked = openPaymentOf(payment);
    return (await this.#received(payment)).some((message) => account.rail.read(message, asked)?.kind === kind);
  }

  /**
   * Whether the rail has sent anything about the order by itself: then it has the order, whatever
   * became of the answer to the request. The result of a query proves nothing of the kind.
   */
  async hasOrder({ payment }: Asked): Promise<boolean> {
    return (await this.#received(payment)).some(({ purpose }) => purpose !== "status");
  }

  /** A sandbox stores messages before their time. */
  async #received({ transactionId }: StoredPayment): Promise<readonly StoredMessage[]> {
    const now = this.#timing.now();
    return (await this.#inbox.messages(transactionId)).filter(({ receivedAt }) => receivedAt <= now);
  }
}
