import { expect } from "chai";

import type { EventPattern } from "../../../src/domain/event-types.js";
import type { WebhookEndpointId } from "../../../src/domain/values/ids.js";
import type { Description } from "../../../src/domain/values/text.js";
import { type Endpoint, ENDPOINTS_MAX } from "../../../src/domain/webhook-endpoint.js";
import type { Given } from "../../support/commands.js";
import { decide, effectOf, expectRefused, putOf } from "../../support/decided.js";
import { endpoint, givenHead } from "../../support/given.js";
import { NOW, ORGANIZATION } from "../../support/names.js";
import { createWebhookEndpoint } from "../../support/operations/webhooks.js";

const ID = "whe_new" as WebhookEndpointId;
const SECRET = { base64: "bmV3", validUntil: undefined };
const GIVEN = {
  newEndpointId: ID,
  url: "https://new.example.com/",
  description: "till" as Description,
  secret: SECRET,
};
const KEYED = { ...SECRET, keyed: { key: "a", content: "create", at: NOW } };
const EXISTING = endpoint({ secrets: [KEYED] });

describe("a new webhook endpoint", () => {
  const create = (given: Given<"createWebhookEndpoint">, webhookEndpoints: readonly Endpoint[] = [EXISTING]) =>
    decide(
      { books: [givenHead({ lastSeq: 8 })], webhookEndpoints },
      createWebhookEndpoint(ORGANIZATION, { ...GIVEN, ...given }),
    );

  it("begins with the events after its own row", () => {
    const effect = effectOf(create({}));
    expect(effect.entries.map(({ kind, detail }) => [kind, detail])).to.deep.equal([["webhook_endpoint.created", ID]]);
    expect(putOf(effect, "webhookEndpoints")).to.deep.equal({
      ...endpoint(),
      id: ID,
      url: GIVEN.url,
      description: "till",
      secrets: [SECRET],
      settledSeq: 9,
      changedSeq: 9,
      createdAt: NOW,
      updatedAt: NOW,
    });
  });

  const { url, id: endpointId } = EXISTING;
  const same = { url, description: "" as Description };
  const others = (count: number) =>
    Array.from({ length: count }, (_, index) => {
      const number = String(index);
      return endpoint({ id: `whe_${number}` as WebhookEndpointId, url: `https://example.com/${number}` });
    });
  // The order of rows is the order of checks.
  for (const [what, given, all, expected] of [
    ["is the first one for the same idempotency key and content", { secret: KEYED }, undefined, "replay"],
    [
      "is refused for the key with other content",
      { ...same, secret: { ...KEYED, keyed: { ...KEYED.keyed, content: "rotate" } } },
      undefined,
      { reason: "IDEMPOTENCY_KEY_REUSED" },
    ],
    ["is the one that has the url and the same content", same, undefined, "replay"],
    [
      "is refused for the url of one with other content, also beside nine others",
      { url, types: ["key.*" as EventPattern], description: "other" as Description },
      [EXISTING, ...others(ENDPOINTS_MAX - 1)],
      { reason: "WEBHOOK_ENDPOINT_ALREADY_EXISTS", endpointId, differingFields: ["types", "description"] },
    ],
    [
      "is refused as the eleventh",
      {},
      others(ENDPOINTS_MAX),
      { reason: "TOO_MANY_WEBHOOK_ENDPOINTS", limit: ENDPOINTS_MAX },
    ],
  ] as const) {
    it(what, () => {
      const decision = create(given, all);
      if (expected !== "replay") expectRefused(decision, expected);
      else expect(decision).to.include({ kind: "replay", resource: EXISTING });
    });
  }
});
