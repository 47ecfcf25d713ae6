import { expect } from "chai";

import type { EventPattern } from "../../src/domain/event-types.js";
import type { WebhookEndpointId } from "../../src/domain/values/ids.js";
import { createdEndpoint, ENDPOINTS_MAX, type NewEndpointValues } from "../../src/domain/webhook-creation.js";
import type { Endpoint } from "../../src/domain/webhook-endpoint.js";
import { endpoint } from "../support/given.js";
import { NOW, ORGANIZATION } from "../support/names.js";

const ID = "whe_new" as WebhookEndpointId;
const SECRET = { base64: "bmV3", validUntil: undefined };
const GIVEN: NewEndpointValues = {
  id: ID,
  organizationId: ORGANIZATION,
  now: NOW,
  url: "https://new.example.com/",
  types: undefined,
  description: "till",
  secret: SECRET,
};
const PLACE = { nextSeq: 9, recordedAt: NOW };
const KEYED = { ...SECRET, keyed: { key: "a", content: "create", at: NOW } };
const EXISTING = endpoint({ secrets: [KEYED] });

describe("a new webhook endpoint", () => {
  const create = (given: Partial<NewEndpointValues>, all: readonly Endpoint[] = [EXISTING]) =>
    createdEndpoint({ ...GIVEN, ...given }, all, PLACE);

  it("begins with the events after its own row", () => {
    expect(create({})).to.deep.equal({
      endpoint: {
        ...endpoint(),
        id: ID,
        url: GIVEN.url,
        description: "till",
        secrets: [SECRET],
        settledSeq: 9,
        createdAt: NOW,
        updatedAt: NOW,
      },
      isNew: true,
    });
  });

  const { url, types, description, id: endpointId } = EXISTING;
  const same = { url, types, description };
  const others = (count: number) =>
    Array.from({ length: count }, (_, index) => endpoint({ url: `https://example.com/${String(index)}` }));
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
      { url, types: ["key.*" as EventPattern], description: "other" },
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
      const wanted = expected === "replay" ? { endpoint: EXISTING, isNew: false } : expected;
      expect(create(given, all)).to.deep.equal(wanted);
    });
  }
});
