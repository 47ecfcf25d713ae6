import { expect } from "chai";

import type { GrpcReply } from "../support/callers/grpc-caller.js";
import { ENGINES_OF_STAGE } from "../support/databases.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";

/** The calls of one key at once. Eight of them may wait. */
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

    // SendTestEvent comes first, and DeleteWebhookEndpoint last: the others need the endpoint.
    const REQUESTS = {
      SendTestEvent: () => ({ webhook_endpoint_id: id }),
      CreateWebhookEndpoint: (serial) => ({ url: "https://example.com/hooks", description: String(serial) }),
      UpdateWebhookEndpoint: (serial) => ({ webhook_endpoint_id: id, description: String(serial) }),
      RotateWebhookSecret: () => ({ webhook_endpoint_id: id }),
      ResendWebhookDelivery: () => ({ webhook_endpoint_id: id, sequence: 1 }),
      ReplayWebhookEvents: () => ({ webhook_endpoint_id: id, start_sequence: 1, end_sequence: 2 }),
      GetWebhookEndpoint: () => ({ webhook_endpoint_id: id }),
      ListWebhookEndpoints: () => ({}),
      ListWebhookDeliveries: () => ({ webhook_endpoint_id: id }),
      ListUndeliveredEvents: () => ({ webhook_endpoint_id: id }),
      DeleteWebhookEndpoint: () => ({ webhook_endpoint_id: id }),
    } satisfies Record<string, (serial: number) => object>;

    for (const [rpc, requestOf] of Object.entries(REQUESTS)) {
      it(`is refused beyond its share, and others are served: ${rpc}`, async () => {
        const hammering = Array.from({ length: CALLS }, (_, serial) => once(rpc, requestOf(serial), service.a.key));
        const other = await once(rpc, requestOf(0), service.b.key);
        expect(other.reason).not.to.equal("QUEUE_FULL");
        const reasons = (await Promise.all(hammering)).map(({ reason }) => reason);
        const refused = reasons.filter((reason) => reason === "QUEUE_FULL").length;
        expect(refused).to.be.within(1, CALLS - 8);
      });
    }
  });
}
