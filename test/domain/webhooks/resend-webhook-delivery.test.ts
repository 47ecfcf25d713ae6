import { expect } from "chai";

import { type Endpoint, RETRIES_MAX, RETRY_ALL } from "../../../src/domain/webhook-endpoint.js";
import { decide, effectOf, expectRefused, putOf } from "../../support/decided.js";
import { endpoint, givenHead } from "../../support/given.js";
import { EARLIER, NOW, ORGANIZATION } from "../../support/names.js";
import { resendWebhookDelivery } from "../../support/operations/webhooks.js";

const ENDPOINT = endpoint();
const { id: endpointId, organizationId } = ENDPOINT;
const last = { code: 500, problem: "no", at: EARLIER, millis: 1 };
const retry = (seq: number) => ({ organizationId, endpointId, seq, tries: 7, nextAt: undefined, last });

describe("one more delivery of an event", () => {
  const resend = (seq: number, retries: number, before: Partial<Endpoint> = {}) =>
    decide(
      {
        books: [givenHead({ lastSeq: RETRIES_MAX + 1 })],
        webhookEndpoints: [{ ...ENDPOINT, ...before }],
        webhookRetries: Array.from({ length: retries }, (_, index) => retry(index + 1)),
      },
      resendWebhookDelivery(ORGANIZATION, endpointId, seq),
    );

  it("is due at once, and its tries begin again, without a row of the journal", () => {
    const effect = effectOf(resend(1, 1));
    expect(effect.entries).to.deep.equal([]);
    expect(putOf(effect, "webhookRetries")).to.deep.equal({ ...retry(1), tries: 0, nextAt: NOW });
    expect(putOf(effect, "webhookEndpoints")).to.deep.equal({ ...ENDPOINT, revision: 2, retryAt: NOW });
  });

  it("may be the 1,000th undelivered event, and one of them", () => {
    expect(effectOf(resend(RETRIES_MAX, RETRIES_MAX - 1)).puts).to.have.length(2);
    expect(effectOf(resend(1, RETRIES_MAX)).puts).to.have.length(2);
  });

  it("leaves all retries due, if they are", () => {
    const effect = effectOf(resend(1, 1, { retryAt: RETRY_ALL }));
    expect(putOf(effect, "webhookEndpoints")).to.include({ retryAt: RETRY_ALL });
  });

  it("is refused for an event that the book does not have", () => {
    expectRefused(resend(RETRIES_MAX + 2, 0), { reason: "EVENT_NOT_FOUND", sequence: RETRIES_MAX + 2 });
  });

  it("is refused beside 1,000 other undelivered events", () => {
    expectRefused(resend(RETRIES_MAX + 1, RETRIES_MAX), { reason: "WEBHOOK_ENDPOINT_BUSY", endpointId });
  });
});
