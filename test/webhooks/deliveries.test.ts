import type { ServerResponse } from "node:http";

import { expect } from "chai";

import { ENGINES_OF_STAGE } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";
import { Receiver, verifySignature } from "../support/webhooks/receiver.js";

for (const engine of ENGINES_OF_STAGE) {
  describe(`the deliveries of webhooks (${engine})`, () => {
    let service: InProcess;
    let receiver: Receiver;
    let names = 0;

    before(async () => {
      service = await startInProcess(engine, undefined, { KESC_WEBHOOKS_ALLOW: "127.0.0.1" });
    });
    after(() => service.dispose());
    beforeEach(async () => {
      receiver = await Receiver.start();
    });
    afterEach(() => receiver.close());

    async function call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
      const reply = await service.rest.send(method, path, { key: service.a.key, body: body as never });
      if (reply.status >= 300) throw new Error(reply.text);
      return reply.json;
    }

    async function endpoint(body: object = {}): Promise<{ id: string; secret: string }> {
      return (await call("POST", "/webhook-endpoints", { url: receiver.url, ...body })) as {
        id: string;
        secret: string;
      };
    }

    async function account(): Promise<string> {
      names += 1;
      const created = await call("POST", "/accounts", { user_id: `user-${String(names)}`, phone_number: "0712345678" });
      return String(created["id"]);
    }

    async function mint(account_id: string): Promise<void> {
      names += 1;
      await call("POST", "/transactions/mint", { account_id, amount: "10.00", reference: `ref-${String(names)}` });
    }

    it("delivers each event once, signed, as GET /events shows it", async () => {
      const { secret, id } = await endpoint();
      const account_id = await account();
      for (let count = 0; count < 20; count++) await mint(account_id);
      await eventually(() => receiver.received.length >= 21);
      const first = Math.min(...receiver.sequences);
      const listed = await service.rest.send("GET", `/events?after_sequence=${String(first - 1)}&page_size=200`, {
        key: service.a.key,
      });
      const bySequence = new Map(receiver.received.map((received) => [received.json.data["sequence"], received]));
      const events = listed.json["events"] as { sequence: unknown; id: string; type: string; recorded_at: string }[];
      expect(bySequence.size).to.equal(events.length);
      for (const event of events) {
        const received = bySequence.get(event.sequence);
        if (received === undefined) throw new Error(`the event ${String(event.sequence)} did not come`);
        verifySignature(received, secret);
        expect(received.id).to.equal(event.id);
        expect(received.json).to.deep.equal({ type: event.type, timestamp: event.recorded_at, data: event });
        expect(listed.text).to.include(JSON.stringify(event).slice(0, 40));
      }
      await call("DELETE", `/webhook-endpoints/${id}`);
    });

    it("signs with the earlier secret as well after a rotation", async () => {
      const { secret, id } = await endpoint({ types: ["account.created"] });
      const rotated = await call("POST", `/webhook-endpoints/${id}/rotate-secret`, {});
      const newer = (rotated["webhook_endpoint"] as { secret: string }).secret;
      await account();
      await eventually(() => receiver.received.length > 0);
      for (const received of receiver.received) {
        verifySignature(received, secret);
        verifySignature(received, newer);
      }
      await call("DELETE", `/webhook-endpoints/${id}`);
    });

    it("tells the true story of a receiver that fails, and delivers everything after it has healed", async () => {
      const { id } = await endpoint({ types: ["account.created"] });
      const answers = [
        (response: ServerResponse) => response.writeHead(500).end(),
        (response: ServerResponse) => response.writeHead(302, { location: "https://example.com/" }).end(),
        (response: ServerResponse) => response.destroy(),
      ];
      let failed = 0;
      receiver.answer = (response, { id: event }) => {
        if (healed) delivered.push(event);
        if (healed) response.writeHead(200).end();
        else answers[failed++ % answers.length]?.(response);
      };
      let healed = false;
      const delivered: string[] = [];
      for (let count = 0; count < 3; count++) await account();
      await eventually(() => receiver.received.length >= 3);
      const sent = new Set(receiver.received.map((received) => received.id));
      const deliveries = async (query: string): Promise<Record<string, unknown>[]> =>
        (await call("GET", `/webhook-endpoints/${id}/deliveries${query}`))["deliveries"] as Record<string, unknown>[];
      const undelivered = async (): Promise<Record<string, unknown>[]> =>
        (await call("GET", `/webhook-endpoints/${id}/undelivered-events`))["undelivered_events"] as never;
      await eventually(async () => (await undelivered()).length === 3);
      for (const event of await undelivered()) {
        expect(event).to.include({ event_type: "account.created", attempt_count: 1 });
        expect(event["last_problem"]).to.be.a("string");
      }
      const log = await deliveries("?failed=true");
      expect(log.map(({ http_status }) => http_status)).to.have.members([null, 302, 500]);
      expect(new Set(log.map(({ event_id }) => event_id))).to.deep.equal(sent);
      expect(log.map(({ problem }) => problem)).to.have.members([
        "it responded with 500",
        "it responded with 302, a redirect, which is not followed",
        "the connection broke",
      ]);
      healed = true;
      // Nobody waits for the next try of an endpoint that begins again.
      for (const status of ["paused", "active"]) await call("PATCH", `/webhook-endpoints/${id}`, { status });
      await eventually(async () => (await undelivered()).length === 0);
      expect(new Set(delivered)).to.deep.equal(sent);
      expect((await deliveries("")).map(({ succeeded }) => succeeded)).to.include(true);
      expect(await call("GET", `/webhook-endpoints/${id}`)).to.include({ failing_since: null, status: "active" });
      await call("DELETE", `/webhook-endpoints/${id}`);
    });

    it("replays a range, and resends one event, with the same webhook-ids", async () => {
      const { id } = await endpoint();
      // On a slow machine a delivery may come twice: what is right is which events come.
      for (let count = 0; count < 3; count++) await account();
      await eventually(() => new Set(receiver.sequences).size === 3);
      const first = new Map(receiver.received.map((received) => [received.json.data["sequence"], received.id]));
      const sequences = [...new Set(receiver.sequences)].toSorted((left, right) => left - right);
      receiver.received.length = 0;
      const range = { start_sequence: sequences[0], end_sequence: (sequences[2] ?? 0) + 1 };
      await call("POST", `/webhook-endpoints/${id}/replay`, range);
      await eventually(() => new Set(receiver.sequences).size === 3);
      expect(new Map(receiver.received.map((received) => [received.json.data["sequence"], received.id]))).to.deep.equal(
        first,
      );
      await eventually(async () => (await call("GET", `/webhook-endpoints/${id}`))["replay"] === null);
      receiver.received.length = 0;
      await call("POST", `/webhook-endpoints/${id}/resend`, { sequence: sequences[1] });
      await eventually(() => receiver.received.length > 0);
      expect(receiver.received[0]?.id).to.equal(first.get(sequences[1]));
      await call("DELETE", `/webhook-endpoints/${id}`);
    });

    it("disables an endpoint that is gone, with an event, and sends what waits once it is active again", async () => {
      const { id } = await endpoint({ types: ["account.created"] });
      receiver.answer = (response) => response.writeHead(410).end();
      await account();
      await eventually(async () => (await call("GET", `/webhook-endpoints/${id}`))["status"] === "disabled");
      expect((await call("GET", `/webhook-endpoints/${id}`))["disabled_reason"]).to.equal("gone");
      const events = await call("GET", "/events?types=webhook_endpoint.disabled");
      expect(events["events"]).to.have.length(1);
      receiver.answer = (response) => response.writeHead(204).end();
      receiver.received.length = 0;
      await account();
      await call("PATCH", `/webhook-endpoints/${id}`, { status: "active" });
      await eventually(() => new Set(receiver.sequences).size === 2);
      await call("DELETE", `/webhook-endpoints/${id}`);
    });

    it("sends nothing while paused, and nothing of another organization", async () => {
      const { id } = await endpoint({ types: ["account.created"] });
      await call("PATCH", `/webhook-endpoints/${id}`, { status: "paused" });
      await account();
      const body = { user_id: "of-b", phone_number: "0712345678" };
      const theirs = await service.rest.send("POST", "/accounts", { key: service.b.key, body });
      expect(theirs.status).to.equal(201);
      const test = await call("POST", `/webhook-endpoints/${id}/test`, {});
      expect(test).to.include({ succeeded: true, http_status: 204, sequence: 0 });
      expect(receiver.received.map(({ json }) => json.type)).to.deep.equal(["webhook.test"]);
      await call("PATCH", `/webhook-endpoints/${id}`, { status: "active" });
      await eventually(() => receiver.received.length >= 2);
      expect(receiver.received[1]?.body).not.to.include(String(theirs.json["id"]));
      await call("DELETE", `/webhook-endpoints/${id}`);
    });
  });
}
