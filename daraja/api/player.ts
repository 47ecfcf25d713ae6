import type { Clock } from "../clock.js";
import type { Ids } from "../mpesa/ids.js";
import type { Mpesa } from "../mpesa/mpesa.js";
import type { Order, Outcome, Receipt } from "../mpesa/order.js";
import { FORGED_AFTER_MILLIS, type Scenario, type Step } from "../mpesa/scenarios.js";
import type { Callbacks } from "./callbacks.js";
import { messageOf } from "./messages.js";

interface Parts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly mpesa: Mpesa;
  readonly callbacks: Callbacks;
  /** Tells the registered address of a payment that came in. */
  readonly confirm: (receipt: Receipt) => Promise<void>;
}

/** Lets the scenario of each accepted order happen: money moves, callbacks go out. */
export class Player {
  readonly #parts: Parts;
  readonly #refused = new Set<string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * How the gateway refuses this request, where the scenario has it refuse the first one for each
   * number.
   */
  refusal(direction: Order["direction"], msisdn: string, scenario: Scenario): Scenario["refusedOnce"] {
    const key = `${direction} ${msisdn}`;
    if (scenario.refusedOnce === undefined || this.#refused.has(key)) return undefined;
    this.#refused.add(key);
    return scenario.refusedOnce;
  }

  /** Resolves at once, or after the callback that comes before the answer. `steps` may differ. */
  async start(order: Order, steps: readonly Step[] = order.scenario.steps): Promise<void> {
    const { clock } = this.#parts;
    if (order.scenario.forged !== undefined) clock.after(FORGED_AFTER_MILLIS, () => this.#forge(order));
    for (const step of steps) {
      if (step.afterMillis === 0) await this.#take(order, step);
      else clock.after(step.afterMillis, () => this.#take(order, step));
    }
  }

  /** Counts a query. Pays the order first, if it waited for that many queries. */
  queried(order: Order): void {
    const { pendingQueries } = order.scenario;
    order.queries += 1;
    if (order.outcome !== undefined || pendingQueries === undefined || order.queries <= pendingQueries) return;
    const outcome = this.#parts.mpesa.pay(order);
    this.#parts.clock.after(0, () => this.#report(order, outcome));
  }

  async #take(order: Order, step: Step): Promise<void> {
    const { mpesa } = this.#parts;
    const outcome = step.kind === "pay" ? mpesa.pay(order) : mpesa.fail(order, step.code, step.status);
    await this.#report(order, outcome);
  }

  async #report(order: Order, outcome: Outcome): Promise<void> {
    const { callbacks, confirm } = this.#parts;
    const message = messageOf(order, outcome);
    const body = JSON.stringify(message.body);
    switch (order.scenario.callback) {
      case undefined:
        await callbacks.send(message.url, body);
        break;
      case "twice":
        await callbacks.send(message.url, body);
        await callbacks.send(message.url, body);
        break;
      case "malformed":
        await callbacks.send(message.url, cut(body));
        break;
      case "timeout":
        if (order.direction === "OUT") await callbacks.send(order.queueTimeOutUrl, JSON.stringify(order.request));
        break;
      case "never":
        break;
    }
    if (outcome.receipt?.direction === "IN") await confirm(outcome.receipt);
  }

  /** Claims that the order was paid, with a receipt that M-Pesa never gave out. */
  async #forge(order: Order): Promise<void> {
    const atMillis = this.#parts.clock.nowMillis();
    const number = this.#parts.ids.receipt(atMillis);
    const { direction, msisdn, amountCents } = order;
    const { shortcode } = order.organization;
    const accountReference = order.direction === "IN" ? order.accountReference : "";
    const money = { direction, shortcode, msisdn, amountCents, feeCents: 0, balanceCents: 0 };
    const about = { accountReference, thirdPartyTransId: "", order };
    const receipt: Receipt = { number, ...money, atMillis, ...about };
    const { url, body } = messageOf(order, {
      code: "0",
      status: "Completed",
      atMillis,
      transactionId: number,
      receipt,
    });
    const address = order.scenario.forged === "wrong token" ? withWrongToken(url) : url;
    await this.#parts.callbacks.send(address, JSON.stringify(body), { isForged: true });
  }
}

/** JSON text that ends too early. */
export function cut(text: string): string {
  return text.slice(0, -text.length / 3);
}

/** Returns the address with another last character. */
function withWrongToken(url: string): string {
  return `${url.slice(0, -1)}${url.endsWith("0") ? "1" : "0"}`;
}
