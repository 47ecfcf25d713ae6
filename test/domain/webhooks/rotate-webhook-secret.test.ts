import { expect } from "chai";

import type { WebhookEndpointId } from "../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import type { Endpoint, EndpointSecret, KeyedRequest } from "../../../src/domain/webhook-endpoint.js";
import { shownSecretOf } from "../../../src/domain/webhooks/secrets.js";
import { decide, effectOf, putOf, wordOf } from "../../support/decided.js";
import { endpoint } from "../../support/given.js";
import { NOW, ORGANIZATION } from "../../support/names.js";
import { rotateWebhookSecret } from "../../support/operations/webhooks.js";

const DAY_MILLIS = 86_400_000;
const LATER = toUnixMillis(NOW + 60_000);

const secret = (base64: string, validUntil?: UnixMillis): EndpointSecret => ({ base64, validUntil });

/** A secret that a call with the idempotency key "a" has made. */
const keyed = (base64: string, given: Partial<KeyedRequest> = {}): EndpointSecret => ({
  ...secret(base64),
  keyed: { key: "a", content: "rotate", at: NOW, ...given },
});

describe("a new secret of a webhook endpoint", () => {
  const rotate = (webhookEndpoints: readonly Endpoint[], made: EndpointSecret) =>
    decide({ webhookEndpoints }, rotateWebhookSecret(ORGANIZATION, endpoint().id, { secret: made }));

  it("lets those that sign do so for a day at most, and no more than four", () => {
    const secrets = [secret("a"), secret("b", LATER), secret("ended", NOW), secret("c", LATER), secret("d", LATER)];
    const effect = effectOf(rotate([endpoint({ secrets })], secret("new")));
    expect(effect.entries.map(({ kind }) => kind)).to.deep.equal(["webhook_endpoint.updated"]);
    expect(putOf(effect, "webhookEndpoints")).to.deep.include({
      revision: 2,
      secrets: [secret("new"), secret("a", toUnixMillis(NOW + DAY_MILLIS)), secret("b", LATER), secret("c", LATER)],
    });
  });

  it("is in no row of the journal", () => {
    expect(JSON.stringify(effectOf(rotate([endpoint()], secret("new"))).entries)).not.to.include("new");
  });

  // The order of rows is the order of checks.
  for (const [what, before, expected] of [
    ["is nothing for the same idempotency key and content", {}, "replay"],
    ["is refused for the key with other content", { content: "create" }, "IDEMPOTENCY_KEY_REUSED"],
    ["is made for another key", { key: "b" }, "effect"],
    ["is made a day after the first call", { at: toUnixMillis(NOW - DAY_MILLIS) }, "effect"],
  ] as const) {
    it(`${what}, whichever endpoint has the secret of that call`, () => {
      const id = "whe_2" as WebhookEndpointId;
      const all = [endpoint(), endpoint({ id, secrets: [secret("plain"), keyed("first", before)] })];
      expect(wordOf(rotate(all, keyed("second")))).to.equal(expected);
    });
  }

  it("is shown by the call that made it, and again by its idempotency key alone", () => {
    const secrets = [secret("plain"), keyed("first")];
    expect(shownSecretOf({ secrets }, secret("plain"))).to.deep.equal(secret("plain"));
    expect(shownSecretOf({ secrets }, keyed("second"))).to.deep.equal(keyed("first"));
    expect(shownSecretOf({ secrets }, keyed("second", { key: "b" }))).to.equal(undefined);
    expect(shownSecretOf({ secrets }, secret("second"))).to.equal(undefined);
  });
});
