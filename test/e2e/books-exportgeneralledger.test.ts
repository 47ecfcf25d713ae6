import { expect } from "chai";

import { describeEachEngine, newAccount, problemOf } from "../support/service/each-engine.js";

// books-exportstatement.test.ts shows the lines of all exports beside each other.
describeEachEngine("ExportGeneralLedger", (service) => {
  it("ends a period that has no rows, over REST and gRPC", async () => {
    await newAccount(service(), "10.00");
    const period = { start: "2020-01-01", end: "2020-01-31" };
    const stream = service().grpc.watch<{ lines: readonly object[] }>("ExportGeneralLedger", period);
    expect(await stream.ended).to.include({ code: 0 });
    const lines = stream.responses.flatMap((message) => message.lines).length;
    const search = new URLSearchParams(period).toString();
    const reply = await service().rest("GET", `/general-ledger?${search}`, { headers: { accept: "text/csv" } });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.text.trimEnd().split("\r\n")).to.have.lengthOf(lines + 1);
  });

  it("names both ends that are missing", async () => {
    const reply = await service().rest("GET", "/general-ledger", { headers: { accept: "text/csv" } });
    expect(problemOf(reply)).to.deep.equal({ status: 400, code: "INVALID_FIELD", fields: ["start", "end"] });
  });
});
