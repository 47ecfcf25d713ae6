import { expect } from "chai";

import { callbackToken, uuidOf } from "../../src/rails/callback-token.js";
import { WithRails } from "../support/service/with-rails.js";

describe("ReceiveCallback", () => {
  let service: WithRails;
  before(async () => {
    service = await WithRails.start();
  });
  after(() => service.running.dispose());

  const ACCEPTED = '{"ResultCode":0,"ResultDesc":"Accepted"}';

  it("takes a message without a key, of any type, and stores it masked", async () => {
    const id = await service.mint(100);
    const token = callbackToken(service.callbackSecret, { cell: 0, purpose: "collect", uuid: uuidOf(id) });
    const { rest } = service.running;
    const body = '{"MpesaReceiptNumber":"RKT0000001","PhoneNumber":254708374149}';
    const reply = await rest.send("POST", `/callbacks/${token}`, { body, headers: { "content-type": "text/html" } });
    expect([reply.status, reply.headers["content-type"], reply.text]).to.deep.equal([
      200,
      "application/json",
      ACCEPTED,
    ]);
    expect(service.rails.added.map(({ message }) => message)).to.deep.equal([
      {
        transactionId: id,
        purpose: "collect",
        body: '{"MpesaReceiptNumber":"RKT0000001","PhoneNumber":"254708***149"}',
      },
    ]);
  });

  it("answers a token of nobody as any other, and stores nothing", async () => {
    const before = service.rails.added.length;
    for (const token of ["x", "0".repeat(72), "%F0%9F%92%B8"]) {
      const reply = await service.running.rest.send("POST", `/callbacks/${token}`, { body: "{}" });
      expect([reply.status, reply.text]).to.deep.equal([200, ACCEPTED]);
    }
    expect(service.rails.added).to.have.lengthOf(before);
  });

  it("takes POST only", async () => {
    const reply = await service.running.rest.send("GET", "/callbacks/x");
    expect([reply.status, reply.headers.allow]).to.deep.equal([405, "POST, OPTIONS"]);
  });
});
