import { randomBytes } from "node:crypto";

import { expect } from "chai";
import { Webhook } from "standardwebhooks";

import { toUnixMillis } from "../../src/domain/values/time.js";
import type { EndpointSecret } from "../../src/domain/webhook-endpoint.js";
import { signedDelivery } from "../../src/webhooks/sign.js";

describe("signedDelivery", () => {
  const event = {
    id: "evt_1",
    type: "account.created",
    recordedAt: toUnixMillis(1_700_000_000_123),
    json: () => '{"sequence":1,"text":"Wanjikũ"}',
  };
  const secret = (bytes: number, validUntil?: number): EndpointSecret => ({
    base64: randomBytes(bytes).toString("base64"),
    validUntil: validUntil === undefined ? undefined : toUnixMillis(validUntil),
  });
  const verify = (delivery: ReturnType<typeof signedDelivery>, { base64 }: EndpointSecret): unknown =>
    new Webhook(`whsec_${base64}`).verify(delivery.body, { ...delivery.headers });

  it("signs as the library of the standard verifies, by each secret that is valid", () => {
    const now = toUnixMillis(Date.now());
    const secrets = [secret(32), secret(64, now + 1), secret(24, now)] as const;
    const delivery = signedDelivery({ url: "https://example.com/", secrets }, event, now);
    const expected = {
      type: event.type,
      timestamp: "2023-11-14T22:13:20.123Z",
      data: JSON.parse(event.json()) as object,
    };
    expect(verify(delivery, secrets[0])).to.deep.equal(expected);
    expect(verify(delivery, secrets[1])).to.deep.equal(expected);
    expect(() => verify(delivery, secrets[2])).to.throw();
    expect(() => verify({ ...delivery, body: `${delivery.body} ` }, secrets[0])).to.throw();
  });

  it("has the time of the attempt, and the id of the event", () => {
    const secrets = [secret(32)];
    const at = (millis: number): Readonly<Record<string, string>> =>
      signedDelivery({ url: "https://example.com/", secrets }, event, toUnixMillis(millis)).headers;
    expect(at(1_700_000_001_999)).to.include({ "webhook-id": "evt_1", "webhook-timestamp": "1700000001" });
    expect(at(1_700_009_000_000)["webhook-id"]).to.equal("evt_1");
  });
});
