import { expect } from "chai";

import type { WebhookEndpointId } from "../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import type { Endpoint, EndpointSecret, KeyedRequest } from "../../src/domain/webhook-endpoint.js";
import { keyedSecretOf, withSecret } from "../../src/domain/webhook-secrets.js";
import { endpoint } from "../support/given.js";
import { NOW } from "../support/names.js";

const DAY_MILLIS = 86_400_000;
const LATER = toUnixMillis(NOW + 60_000);

const secret = (base64: string, validUntil?: UnixMillis): EndpointSecret => ({ base64, validUntil });

/** A secret that a call with the idempotency key "a" has made. */
const keyed = (base64: string, given: Partial<KeyedRequest> = {}): EndpointSecret => ({
  ...secret(base64),
  keyed: { key: "a", content: "rotate", at: NOW, ...given },
});

describe("a new secret of a webhook endpoint", () => {
  it("lets those that sign do so for a day at most, and no more than four", () => {
    const secrets = [secret("a"), secret("b", LATER), secret("ended", NOW), secret("c", LATER), secret("d", LATER)];
    const changed = withSecret(endpoint({ secrets }), { secret: secret("new"), now: NOW }, []);
    expect((changed as Endpoint).secrets).to.deep.equal([
      secret("new"),
      secret("a", toUnixMillis(NOW + DAY_MILLIS)),
      secret("b", LATER),
      secret("c", LATER),
    ]);
  });

  // The order of rows is the order of checks.
  for (const [what, before, expected] of [
    ["is nothing for the same idempotency key and content", {}, undefined],
    ["is refused for the key with other content", { content: "create" }, { reason: "IDEMPOTENCY_KEY_REUSED" }],
    ["is made for another key", { key: "b" }, "made"],
    ["is made a day after the first call", { at: toUnixMillis(NOW - DAY_MILLIS) }, "made"],
  ] as const) {
    it(`${what}, whichever endpoint has the secret of that call`, () => {
      const id = "whe_2" as WebhookEndpointId;
      const all = [endpoint(), endpoint({ id, secrets: [secret("plain"), keyed("first", before)] })];
      const changed = withSecret(endpoint(), { secret: keyed("second"), now: NOW }, all);
      const isMade = changed !== undefined && "secrets" in changed;
      expect(isMade ? "made" : changed).to.deep.equal(expected);
    });
  }

  it("is shown again by its idempotency key alone", () => {
    const secrets = [secret("plain"), keyed("first")];
    expect(keyedSecretOf({ secrets }, keyed("second"))).to.deep.equal(keyed("first"));
    expect(keyedSecretOf({ secrets }, keyed("second", { key: "b" }))).to.equal(undefined);
    expect(keyedSecretOf({ secrets }, secret("second"))).to.equal(undefined);
  });
});
