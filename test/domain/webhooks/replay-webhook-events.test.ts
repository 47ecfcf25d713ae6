import { expect } from "chai";

import { decide, effectOf, putOf, wordOf } from "../../support/decided.js";
import { endpoint, givenHead } from "../../support/given.js";
import { ORGANIZATION } from "../../support/names.js";
import { replayWebhookEvents } from "../../support/operations/webhooks.js";

const ENDPOINT = endpoint();

describe("a replay of a webhook endpoint", () => {
  const begun = { settledSeq: 4, untilSeq: 8 };
  for (const [what, replay, range, expected] of [
    ["ends before the end", undefined, [5, 9], begun],
    ["ends with the newest event", undefined, [5, undefined], { settledSeq: 4, untilSeq: 9 }],
    ["needs an event at its begin", undefined, [10, undefined], "EVENT_NOT_FOUND"],
    ["needs an event at its end", undefined, [5, 12], "EVENT_NOT_FOUND"],
    ["is nothing if it is under way", begun, [5, 9], "replay"],
    ["waits for another end", begun, [5, 8], "WEBHOOK_ENDPOINT_BUSY"],
    ["waits for a begin that it has not reached", begun, [6, 9], "WEBHOOK_ENDPOINT_BUSY"],
  ] as const) {
    it(what, () => {
      const rows = { books: [givenHead({ lastSeq: 9 })], webhookEndpoints: [{ ...ENDPOINT, replay }] };
      const decision = decide(rows, replayWebhookEvents(ORGANIZATION, ENDPOINT.id, range));
      if (typeof expected === "string") {
        expect(wordOf(decision)).to.equal(expected);
        return;
      }
      // The endpoint stays as people decided it, so the journal has no row.
      expect(effectOf(decision).entries).to.deep.equal([]);
      const written = { ...ENDPOINT, replay: expected, revision: 2 };
      expect(putOf(effectOf(decision), "webhookEndpoints")).to.deep.equal(written);
    });
  }
});
