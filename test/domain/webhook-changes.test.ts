import { expect } from "chai";

import type { WebhookEndpointId } from "../../src/domain/values/ids.js";
import { type EndpointValues, withReplay, withValues } from "../../src/domain/webhook-changes.js";
import type { Endpoint } from "../../src/domain/webhook-endpoint.js";
import { endpoint } from "../support/given.js";
import { EARLIER, NOW } from "../support/names.js";

const ENDPOINT = endpoint();
const OTHER: Endpoint = { ...ENDPOINT, id: "whe_2" as WebhookEndpointId, url: "https://two.example.com" };
const FAILED = {
  status: "DISABLED",
  disabledReason: "GONE",
  failures: 3,
  failingSince: EARLIER,
  probeAt: NOW,
} as const;
const SAME: EndpointValues = {
  url: undefined,
  types: undefined,
  description: undefined,
  status: undefined,
  etag: undefined,
};

describe("a change of a webhook endpoint", () => {
  const change = (endpoint: Endpoint, values: Partial<EndpointValues>) =>
    withValues(endpoint, { ...SAME, ...values }, { etag: "now", all: [endpoint, OTHER] });

  for (const [what, endpoint, values, expected] of [
    ["is nothing for the same values, whatever the etag", {}, { status: "ACTIVE", etag: "old" }, undefined],
    ["is refused for another version", {}, { description: "a", etag: "old" }, { reason: "ETAG_MISMATCH", etag: "now" }],
    [
      "is refused for the url of another one",
      {},
      { url: OTHER.url, etag: "now" },
      { reason: "WEBHOOK_ENDPOINT_ALREADY_EXISTS", endpointId: OTHER.id, differingFields: [] },
    ],
    ["sets the types", {}, { types: { only: ["*"] } }, { ...ENDPOINT, types: ["*"] }],
    ["sets a free url", {}, { url: "https://new" }, { ...ENDPOINT, url: "https://new" }],
    ["keeps the reason of a disabled one", FAILED, { description: "a" }, { ...ENDPOINT, ...FAILED, description: "a" }],
    [
      "pauses a disabled one, which loses its reason alone",
      FAILED,
      { status: "PAUSED" },
      { ...ENDPOINT, ...FAILED, status: "PAUSED", disabledReason: undefined },
    ],
    ["lets one begin as if it had never failed", FAILED, { status: "ACTIVE" }, ENDPOINT],
  ] as const) {
    it(what, () => {
      expect(change({ ...ENDPOINT, ...endpoint }, values as Partial<EndpointValues>)).to.deep.equal(expected);
    });
  }
});

describe("a replay of a webhook endpoint", () => {
  const begun = { settledSeq: 4, untilSeq: 8 };
  for (const [what, replay, [startSeq, endSeq], expected] of [
    ["ends before the end", undefined, [5, 9], { ...ENDPOINT, replay: begun }],
    ["ends with the newest event", undefined, [5, undefined], { ...ENDPOINT, replay: { settledSeq: 4, untilSeq: 9 } }],
    ["needs an event at its begin", undefined, [10, undefined], { reason: "EVENT_NOT_FOUND", sequence: 10 }],
    ["needs an event at its end", undefined, [5, 12], { reason: "EVENT_NOT_FOUND", sequence: 11 }],
    ["is nothing if it is under way", begun, [5, 9], undefined],
    ["waits for another end", begun, [5, 8], { reason: "WEBHOOK_ENDPOINT_BUSY", endpointId: ENDPOINT.id }],
    [
      "waits for a begin that it has not reached",
      begun,
      [6, 9],
      { reason: "WEBHOOK_ENDPOINT_BUSY", endpointId: ENDPOINT.id },
    ],
  ] as const) {
    it(what, () => {
      expect(withReplay({ ...ENDPOINT, replay }, { startSeq, endSeq }, 10)).to.deep.equal(expected);
    });
  }
});
