import { expect } from "chai";

import { StreamCaller } from "../support/callers/stream-caller.js";
import { expectDocumented } from "../support/openapi/expect-documented.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";

// The other end-to-end tests read whole replies. These streams have no end.

describe("the streams of events", () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess("sqlite");
    const body = { user_id: "wanjiku", phone_number: "0712345678" };
    await service.rest.send("POST", "/accounts", { key: service.a.key, body });
  });
  after(() => service.dispose());

  for (const accept of ["text/event-stream", "application/x-ndjson"]) {
    it(`are as the OpenAPI document says: ${accept}`, async () => {
      const caller = new StreamCaller(service.address, "/events", { accept, "x-api-key": service.a.key });
      const { statusCode = 0, headers } = await caller.head();
      await caller.read();
      await caller.until('"account.created"');
      const reply = { status: statusCode, headers, text: caller.text, json: {} };
      expectDocumented("GET", "/events", reply);
      const broken = { ...reply, text: reply.text.replaceAll('"recorded_at"', '"at"') };
      expect(() => {
        expectDocumented("GET", "/events", broken);
      }).to.throw(/recorded_at/);
      caller.close();
    });
  }
});
