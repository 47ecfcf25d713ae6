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

  it("leaves out what foots, and names the file after the organization and the days", async () => {
    const period = { start: "2020-01-01", end: "2020-01-31" };
    const get = (more: object) => {
      const search = new URLSearchParams({ ...period, ...more }).toString();
      return service().rest("GET", `/general-ledger?${search}`, { headers: { accept: "text/csv" } });
    };
    const whole = await get({});
    const [, opening = ""] = whole.text.split("\r\n");
    const [organizationId = ""] = /org_[0-9a-z]{26}/.exec(opening) ?? [];
    expect(whole.headers["content-disposition"]).to.equal(
      `attachment; filename="general-ledger-${organizationId}-2020-01-01-2020-01-31.csv"`,
    );
    expect((await get({ postings_only: "true" })).text.trimEnd().split("\r\n")).to.have.lengthOf(1);
  });

  it("names both ends that are missing", async () => {
    const reply = await service().rest("GET", "/general-ledger", { headers: { accept: "text/csv" } });
    expect(problemOf(reply)).to.deep.equal({ status: 400, code: "INVALID_FIELD", fields: ["start", "end"] });
  });
});
