import { expect } from "chai";

import { WEBHOOKS } from "../../../src/domain/values/actor.js";
import { decide, effectOf, putOf, wordOf } from "../../support/decided.js";
import { endpoint } from "../../support/given.js";
import { NOW, ORGANIZATION } from "../../support/names.js";
import { disableWebhookEndpoint } from "../../support/operations/webhooks.js";

const ENDPOINT = endpoint({ revision: 4 });

describe("disabling a webhook endpoint", () => {
  const disable = (revision: number, before: object = {}) =>
    decide(
      { webhookEndpoints: [{ ...ENDPOINT, ...before }] },
      disableWebhookEndpoint(ORGANIZATION, ENDPOINT.id, { revision }),
    );

  it("says in the journal that the deliveries did it", () => {
    const effect = effectOf(disable(4));
    expect(effect.entries.map(({ kind, actor, detail }) => [kind, actor, detail])).to.deep.equal([
      ["webhook_endpoint.disabled", WEBHOOKS, ENDPOINT.id],
    ]);
    const written = { status: "DISABLED", disabledReason: "GONE", revision: 5, updatedAt: NOW };
    expect(putOf(effect, "webhookEndpoints")).to.include(written);
  });

  for (const [what, revision, before, expected] of [
    ["is nothing once somebody has changed it", 3, {}, "replay"],
    ["is nothing for one that is paused", 4, { status: "PAUSED" }, "replay"],
    [
      "is refused if the row was changed past the service",
      4,
      { status: "DISABLED", disabledReason: "CHANGED" },
      "WEBHOOK_ENDPOINT_CHANGED",
    ],
  ] as const) {
    it(what, () => {
      expect(wordOf(disable(revision, before))).to.equal(expected);
    });
  }
});
