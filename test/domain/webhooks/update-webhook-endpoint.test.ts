import { expect } from "chai";

import type { WebhookEndpointId } from "../../../src/domain/values/ids.js";
import { type Endpoint, RETRY_ALL } from "../../../src/domain/webhook-endpoint.js";
import { decide, effectOf, expectRefused, putOf } from "../../support/decided.js";
import { endpoint, givenHead } from "../../support/given.js";
import { EARLIER, NOW, ORGANIZATION, STRANGER } from "../../support/names.js";
import { updateWebhookEndpoint } from "../../support/operations/webhooks.js";

const ENDPOINT = endpoint();
const { id: endpointId } = ENDPOINT;
const OTHER: Endpoint = { ...ENDPOINT, id: "whe_2" as WebhookEndpointId, url: "https://two.example.com" };
const FAILED = {
  status: "DISABLED",
  disabledReason: "GONE",
  failures: 3,
  failingSince: EARLIER,
  probeAt: NOW,
} as const;
const CHANGED = { status: "DISABLED", disabledReason: "CHANGED" } as const;

describe("a change of a webhook endpoint", () => {
  const change = (before: Partial<Endpoint>, values: object, organization = ORGANIZATION) =>
    decide(
      { webhookEndpoints: [{ ...ENDPOINT, ...before }, OTHER] },
      updateWebhookEndpoint(organization, endpointId, values),
    );

  // The order of rows is the order of checks.
  for (const [what, before, values, expected] of [
    [
      "is refused if the row was changed past the service",
      CHANGED,
      { etag: "old" },
      { reason: "WEBHOOK_ENDPOINT_CHANGED", endpointId },
    ],
    ["is nothing for the same values, whatever the etag", {}, { status: "ACTIVE", etag: "old" }, "replay"],
    ["is refused for another version", {}, { description: "a", etag: "1" }, { reason: "ETAG_MISMATCH", etag: "2" }],
    [
      "is refused for the url of another one",
      {},
      { url: OTHER.url, etag: "2" },
      { reason: "WEBHOOK_ENDPOINT_ALREADY_EXISTS", endpointId: OTHER.id, differingFields: [] },
    ],
  ] as const) {
    it(what, () => {
      const decision = change(before, values);
      if (expected === "replay") expect(decision).to.include({ kind: "replay" });
      else expectRefused(decision, expected);
    });
  }

  it("is refused for an endpoint of another organization", () => {
    expectRefused(change({}, { description: "a" }, STRANGER), { reason: "WEBHOOK_ENDPOINT_NOT_FOUND", endpointId });
  });

  for (const [what, before, values, expected] of [
    ["sets the types", {}, { types: { only: ["*"] } }, { types: ["*"] }],
    ["sets a free url", {}, { url: "https://new" }, { url: "https://new" }],
    ["keeps the reason of a disabled one", FAILED, { description: "a" }, { ...FAILED, description: "a" }],
    [
      "pauses a disabled one, which loses its reason alone",
      FAILED,
      { status: "PAUSED" },
      { ...FAILED, status: "PAUSED", disabledReason: undefined },
    ],
    [
      "lets one begin as if it had never failed, and tries at once what waits",
      FAILED,
      { status: "ACTIVE" },
      { retryAt: RETRY_ALL },
    ],
  ] as const) {
    it(what, () => {
      const effect = effectOf(change(before, values));
      expect(effect.entries.map(({ kind, detail }) => [kind, detail])).to.deep.equal([
        ["webhook_endpoint.updated", endpointId],
      ]);
      const changedSeq = givenHead().lastSeq + 1;
      const written = { ...ENDPOINT, ...expected, revision: 2, changedSeq, updatedAt: NOW };
      expect(putOf(effect, "webhookEndpoints")).to.deep.equal(written);
    });
  }
});
