import { expect } from "chai";

import type { GrpcReply } from "../support/callers/grpc-caller.js";
import { ENGINES_OF_STAGE } from "../support/databases.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";

const TRIES_MAX = 5;

for (const engine of ENGINES_OF_STAGE) {
  describe(`an endpoint of webhooks whose row somebody has changed in the database (${engine})`, () => {
    let service: InProcess;
    before(async () => {
      service = await startInProcess(engine);
    });
    // A row that moved to another organization, or got other times, keeps them once it is deleted.
    after(async () => {
      const error: unknown = await service.dispose().catch((thrown: unknown) => thrown);
      expect(new Set(String(error).match(/"table":"\w+"/g))).to.deep.equal(new Set(['"table":"webhook_endpoints"']));
    });

    const create = async (key: string): Promise<string> => {
      const body = { url: `https://example.com/${String(Math.random())}` };
      return String((await service.rest.send("POST", "/webhook-endpoints", { key, body })).json["id"]);
    };
    const shown = async (key: string) => {
      const { response } = await service.grpc.call("ListWebhookEndpoints", {}, { key });
      const all = (
        response as { webhook_endpoints: { id: string; disabled_reason?: string; url: string }[] } | undefined
      )?.webhook_endpoints;
      return new Map(all?.map(({ id, disabled_reason: reason, url }) => [id, [reason, url === ""]]));
    };
    /** A caller sends again what has lost a race with the loop of deliveries. */
    const untilServed = async (rpc: string, request: object, key: string): Promise<GrpcReply> => {
      let reply = await service.grpc.call(rpc, request, { key });
      for (let tries = 1; reply.reason === "STORAGE_UNAVAILABLE" && tries < TRIES_MAX; tries += 1)
        reply = await service.grpc.call(rpc, request, { key });
      return reply;
    };
    const CHANGED = ["WEBHOOK_DISABLED_REASON_CHANGED", true];

    for (const [what, set] of [
      ["its organization", "organization_id = OTHER.organization_id"],
      ["its url", "url = OTHER.url"],
      ["its secrets", "secrets = OTHER.secrets"],
      ["its types", "types = '{'"],
      ["its description", "description = 'another'"],
      ["its times, to a day of the future", "created_at = 9000000000000, updated_at = 9000000000000"],
    ] as const) {
      it(`${what}: is shown as changed and refused, and the others go on`, async () => {
        const [own, foreign] = [service.a.key, service.b.key];
        const [id, beside, other] = [await create(own), await create(own), await create(foreign)];
        const holder = set.startsWith("organization") ? foreign : own;
        const from = set.replace(/OTHER\.(\w+)/, `(SELECT $1 FROM webhook_endpoints WHERE id = '${other}')`);
        const sql = `UPDATE webhook_endpoints SET ${from} WHERE id = '${id}' RETURNING id`;
        await service.database.cells[0].transact((session) => session.read({ sql, bindings: [] }));
        expect((await shown(holder)).get(id)).to.deep.equal(CHANGED);
        expect((await shown(own)).get(beside)).to.deep.equal([undefined, false]);
        expect((await shown(foreign)).get(other)).to.deep.equal([undefined, false]);
        for (const [rpc, request] of [
          ["UpdateWebhookEndpoint", { description: "x" }],
          ["RotateWebhookSecret", {}],
          ["SendTestEvent", {}],
          ["ResendWebhookDelivery", { sequence: 1 }],
          ["ReplayWebhookEvents", { start_sequence: 1, end_sequence: 2 }],
        ] as const) {
          const given = { ...request, webhook_endpoint_id: id };
          const { reason, facts } = await untilServed(rpc, given, holder);
          expect([reason, facts], rpc).to.deep.equal(["WEBHOOK_ENDPOINT_CHANGED", { webhook_endpoint_id: id }]);
          const { reason: ofBeside } = await untilServed(rpc, { ...given, webhook_endpoint_id: beside }, own);
          expect(ofBeside, rpc).not.to.equal("WEBHOOK_ENDPOINT_CHANGED");
          expect(ofBeside, rpc).not.to.equal("INTERNAL");
        }
        const removed = await untilServed("DeleteWebhookEndpoint", { webhook_endpoint_id: id }, holder);
        expect(removed.code).to.equal(0);
        expect((await shown(holder)).has(id)).to.equal(false);
      });
    }
  });
}

/** The calls of one key at once. Eight of them may wait for a turn of lists. */
const CALLS = 100;

for (const engine of ENGINES_OF_STAGE) {
  describe(`a caller that hammers endpoints of webhooks (${engine})`, () => {
    let service: InProcess;
    let id: string;
    before(async () => {
      service = await startInProcess(engine);
      const body = { url: "https://example.com/hooks" };
      const created = await service.rest.send("POST", "/webhook-endpoints", { key: service.a.key, body });
      id = String(created.json["id"]);
    });
    after(() => service.dispose());

    const once = (rpc: string, request: object, key: string): Promise<GrpcReply> =>
      service.grpc.call(rpc, request, { key });

    /** The calls of one key at once, and one of another key beside them. */
    async function hammered(rpc: string, requestOf: (serial: number) => object) {
      const hammering = Array.from({ length: CALLS }, (_, serial) => once(rpc, requestOf(serial), service.a.key));
      const other = await once(rpc, requestOf(0), service.b.key);
      expect(other.reason).not.to.equal("QUEUE_FULL");
      return (await Promise.all(hammering)).map(({ reason }) => reason);
    }

    // SendTestEvent comes first: the others change the endpoint.
    const LOOKS = {
      SendTestEvent: () => ({ webhook_endpoint_id: id }),
      ResendWebhookDelivery: () => ({ webhook_endpoint_id: id, sequence: 1 }),
      GetWebhookEndpoint: () => ({ webhook_endpoint_id: id }),
      ListWebhookEndpoints: () => ({}),
      ListWebhookDeliveries: () => ({ webhook_endpoint_id: id }),
      ListUndeliveredEvents: () => ({ webhook_endpoint_id: id }),
    } satisfies Record<string, (serial: number) => object>;

    for (const [rpc, requestOf] of Object.entries(LOOKS)) {
      it(`is refused beyond its share, and others are served: ${rpc}`, async () => {
        const refused = (await hammered(rpc, requestOf)).filter((reason) => reason === "QUEUE_FULL").length;
        expect(refused).to.be.within(1, CALLS - 8);
      });
    }

    // The ledger's queue shares itself among organizations. The endpoint is deleted last.
    const COMMANDS = {
      CreateWebhookEndpoint: (serial) => ({ url: "https://example.com/hooks", description: String(serial) }),
      UpdateWebhookEndpoint: (serial) => ({ webhook_endpoint_id: id, description: String(serial) }),
      RotateWebhookSecret: () => ({ webhook_endpoint_id: id }),
      ReplayWebhookEvents: () => ({ webhook_endpoint_id: id, start_sequence: 1, end_sequence: 2 }),
      DeleteWebhookEndpoint: () => ({ webhook_endpoint_id: id }),
    } satisfies Record<string, (serial: number) => object>;

    for (const [rpc, requestOf] of Object.entries(COMMANDS)) {
      it(`waits in the queue of the ledger, and others are served: ${rpc}`, async () => {
        const reasons = new Set(await hammered(rpc, requestOf));
        for (const reason of ["INTERNAL", "QUEUE_FULL"]) expect(reasons.has(reason), reason).to.equal(false);
      });
    }
  });
}
