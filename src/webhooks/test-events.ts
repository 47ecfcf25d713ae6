import { randomBytes } from "node:crypto";

import type { OrganizationId } from "../domain/values/ids.js";
import type { Attempt, Endpoint } from "../domain/webhook-endpoint.js";
import { DELIVERY_MILLIS_MAX, TESTS_MAX } from "./limits.js";
import type { DeliveryTiming, SendDelivery, WebhookEvent } from "./ports/delivery.js";
import type { ListedAttempt, WebhookEndpoints } from "./ports/endpoints.js";
import { signedDelivery } from "./sign.js";

export const TEST_EVENT_TYPE = "webhook.test";
/** The response needs this much of the time that is left until the deadline. */
const RESPOND_MILLIS = 500;

export interface TestEventsOptions {
  readonly endpoints: Pick<WebhookEndpoints, "log">;
  readonly send: SendDelivery;
  readonly timing: Pick<DeliveryTiming, "now" | "monotonicMillis">;
  /** Returns an event without a resource as REST shows it. */
  readonly json: (event: Omit<WebhookEvent, "json">) => string;
}

/** Sends test events, at most two of an organization at a time. */
export class TestEvents {
  readonly #options: TestEventsOptions;
  readonly #underWay = new Map<OrganizationId, number>();
  readonly #stopped = new AbortController();

  constructor(options: TestEventsOptions) {
    this.#options = options;
  }

  /** Sends one event. Returns undefined if the organization sends as many as it may. */
  async send(endpoint: Endpoint, deadline: number): Promise<ListedAttempt | undefined> {
    const { organizationId } = endpoint;
    const underWay = this.#underWay.get(organizationId) ?? 0;
    if (underWay >= TESTS_MAX) return undefined;
    this.#underWay.set(organizationId, underWay + 1);
    try {
      return await this.#send(endpoint, deadline);
    } finally {
      const left = (this.#underWay.get(organizationId) ?? 1) - 1;
      if (left > 0) this.#underWay.set(organizationId, left);
      else this.#underWay.delete(organizationId);
    }
  }

  /** Ends those under way. */
  stop(): void {
    this.#stopped.abort();
  }

  async #send(endpoint: Endpoint, deadline: number): Promise<ListedAttempt> {
    const { endpoints, send, timing, json } = this.#options;
    const now = timing.now();
    const event = { seq: 0, id: `evt_test_${randomBytes(10).toString("hex")}`, type: TEST_EVENT_TYPE, recordedAt: now };
    const from = timing.monotonicMillis();
    const delivery = signedDelivery(endpoint, { ...event, json: () => json(event) }, now);
    const millis = Math.max(1, Math.min(DELIVERY_MILLIS_MAX, deadline - now - RESPOND_MILLIS));
    const { code, problem } = await send(delivery, { millis, signal: this.#stopped.signal });
    const attempt: Attempt = {
      seq: 0,
      tries: 1,
      succeeded: problem === "",
      code,
      problem,
      at: timing.now(),
      millis: Math.round(timing.monotonicMillis() - from),
    };
    await endpoints.log(endpoint.id, attempt);
    return { ...attempt, event };
  }
}
