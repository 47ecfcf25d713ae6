import { expect } from "chai";

import type { Description } from "../../src/domain/values/text.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { StoreError } from "../../src/ledger/ports/store.js";
import { mustCommit } from "../../src/storage/organizations/commit-now.js";
import { deliveryStore } from "../../src/storage/webhooks/delivery-store.js";
import { StoredWebhookEndpoints } from "../../src/storage/webhooks/endpoints.js";
import type { EndpointChanges, TakenEndpoint } from "../../src/webhooks/ports/delivery.js";
import { databaseOfSuite, ENGINES, execute } from "../support/databases.js";
import {
  deleteWebhookEndpoint,
  disableWebhookEndpoint,
  replayWebhookEvents,
  updateWebhookEndpoint,
} from "../support/operations/webhooks.js";
import { Book } from "./given-loop.js";

const NOW = toUnixMillis(Date.now());
/** What people decide about an endpoint. */
const DECIDED = "url, secrets, description, changed_seq, updated_at, mac";

/** The changes of a server that has delivered all events up to a sequence but the first. */
function changesOf({ endpoint }: TakenEndpoint, settledSeq: number): EndpointChanges {
  const failed = { code: 500, problem: "no", at: NOW, millis: 1 };
  return {
    id: endpoint.id,
    revision: endpoint.revision,
    settledSeq,
    replay: undefined,
    failures: 1,
    failingSince: NOW,
    probeAt: undefined,
    retryAt: NOW,
    retries: [{ seq: 1, tries: 1, nextAt: NOW, last: failed }],
    settledRetries: [],
    attempts: [{ ...failed, seq: 1, tries: 1, succeeded: false }],
  };
}

for (const engine of ENGINES) {
  describe(`what a server stores of its deliveries (${engine})`, () => {
    const opened = databaseOfSuite(engine);
    let book: Book;
    before(async () => {
      book = await Book.make(opened, "store");
      await book.mint(20);
    });

    async function taken(url: string): Promise<TakenEndpoint> {
      const found = await deliveryStore(opened.cell).take(await book.endpoint(url), NOW);
      if (found === undefined) throw new Error("the endpoint is not active");
      return found;
    }

    async function shown({ endpoint: { id, organizationId } }: TakenEndpoint) {
      const endpoints = new StoredWebhookEndpoints(opened.cell);
      const endpoint = await endpoints.endpoint(organizationId, id);
      const page = { size: 10, beforeSeq: undefined };
      const [log, undelivered] = [
        await endpoints.attempts({ id, organizationId }, "all", page),
        await endpoints.undelivered({ id, organizationId }, page),
      ];
      const { settledSeq, replay, failures } = endpoint ?? {};
      return { settledSeq, replay, failures, log: log.rows.length, undelivered: undelivered.rows.length };
    }

    it("is stored for the revision that it took", async () => {
      const mine = await taken("https://example.com/mine");
      expect(await deliveryStore(opened.cell).save([changesOf(mine, 9)])).to.deep.equal([]);
      expect(await shown(mine)).to.deep.equal({
        settledSeq: 9,
        replay: undefined,
        failures: 1,
        log: 1,
        undelivered: 1,
      });
    });

    it("is not stored once a caller has changed the endpoint", async () => {
      const mine = await taken("https://example.com/changed");
      const { id, organizationId } = mine.endpoint;
      await mustCommit(opened.cell, replayWebhookEvents(organizationId, id, [1, 6]), NOW);
      const before = await shown(mine);
      expect(before.replay).to.deep.equal({ settledSeq: 0, untilSeq: 5 });
      expect(await deliveryStore(opened.cell).save([changesOf(mine, 9)])).to.deep.equal([id]);
      expect(await shown(mine)).to.deep.equal(before);
    });

    for (const [what, set] of [
      ["changed", "description = 'another'"],
      ["put back", `(${DECIDED}) = (SELECT ${DECIDED} FROM old_endpoint)`],
    ] as const) {
      it(`begins with no endpoint whose row somebody has ${what}`, async () => {
        const { id, organizationId } = (await taken(`https://example.com/row-${what.slice(0, 3)}`)).endpoint;
        const copy = `CREATE TABLE old_endpoint AS SELECT * FROM webhook_endpoints WHERE id = '${id}'`;
        await execute(opened.address, "DROP TABLE IF EXISTS old_endpoint", copy);
        const update = updateWebhookEndpoint(organizationId, id, { description: "newer" as Description });
        await mustCommit(opened.cell, update, NOW);
        expect((await deliveryStore(opened.cell).take(id, NOW))?.endpoint.description).to.equal("newer");
        await execute(opened.address, `UPDATE webhook_endpoints SET ${set} WHERE id = '${id}'`);
        const error: unknown = await deliveryStore(opened.cell)
          .take(id, NOW)
          .catch((thrown: unknown) => thrown);
        expect(String(error instanceof StoreError && error.cause)).to.match(/cannot be read/);
      });
    }

    it("is tried again at once when somebody makes the endpoint active again", async () => {
      const mine = await taken("https://example.com/active-again");
      const { id, organizationId } = mine.endpoint;
      const later = toUnixMillis(NOW + 3_600_000);
      const waiting = changesOf(mine, 9);
      const retries = waiting.retries.map((retry) => ({ ...retry, nextAt: later }));
      await deliveryStore(opened.cell).save([{ ...waiting, retryAt: later, retries }]);
      for (const status of ["PAUSED", "ACTIVE"] as const) {
        await mustCommit(opened.cell, updateWebhookEndpoint(organizationId, id, { status }), NOW);
      }
      const found = await deliveryStore(opened.cell).take(id, NOW);
      expect(found?.retries.map(({ nextAt }) => nextAt)).to.deep.equal([NOW]);
    });

    it("is gone once the endpoint is deleted", async () => {
      const mine = await taken("https://example.com/deleted");
      const { id, organizationId } = mine.endpoint;
      await deliveryStore(opened.cell).save([changesOf(mine, 9)]);
      await mustCommit(opened.cell, deleteWebhookEndpoint(organizationId, id), NOW);
      expect(await shown(mine)).to.include({ settledSeq: undefined, log: 0, undelivered: 0 });
      expect(await deliveryStore(opened.cell).save([changesOf(mine, 10)])).to.deep.equal([id]);
    });

    it("is not stored once another server has taken the endpoint, and does not disable it then", async () => {
      const mine = await taken("https://example.com/taken");
      const theirs = await deliveryStore(opened.cell).take(mine.endpoint.id, NOW);
      if (theirs === undefined) throw new Error("the endpoint is not active");
      const before = await shown(mine);
      const store = deliveryStore(opened.cell);
      expect(await store.save([changesOf(mine, 9)])).to.deep.equal([mine.endpoint.id]);
      const { id, organizationId, revision } = mine.endpoint;
      await mustCommit(opened.cell, disableWebhookEndpoint(organizationId, id, { revision }), NOW);
      expect(await shown(mine)).to.deep.equal(before);
      expect(await store.save([changesOf(theirs, 10)])).to.deep.equal([]);
      expect((await shown(mine)).settledSeq).to.equal(10);
    });
  });
}
