import { expect } from "chai";

import { getAdmin, readMetrics } from "../support/callers/served-metrics.js";
import { kesc, Place, RunningKesc } from "../support/service/kesc.js";

const REQUESTS = 40;

describe("the metrics of a gateway of several threads", () => {
  const place = new Place();
  after(() => {
    place.remove();
  });

  it("are the sums of all of them", async () => {
    const variables = {
      ...place.variables,
      KESC_GATEWAY_TARGET: "127.0.0.1:1",
      KESC_GATEWAY_PROCESSES: "2",
      KESC_HTTP_ADMIN_ADDRESS: "127.0.0.1:0",
    };
    const gateway = new RunningKesc(["gateway"], variables);
    try {
      const { address } = await gateway.ready;
      await gateway.said('"metrics"');
      const [, admin = ""] = /"admin":"([^"]+)"/.exec(gateway.stdout) ?? [];
      for (let sent = 0; sent < REQUESTS; sent += 1) {
        await fetch(`http://${address}/livez`, { headers: { connection: "close" } });
      }
      const { status, text } = await getAdmin(admin);
      expect(status).to.equal(200);
      const { lines } = readMetrics(text).get("kesc_http_requests_total") ?? { lines: new Map<string, number>() };
      expect(Object.fromEntries(lines)).to.deep.equal({
        'kesc_http_requests_total{method="GET",route="/livez",status="2xx"}': REQUESTS,
      });
      expect(await getAdmin(admin, "/readyz")).to.include({ status: 404 });
    } finally {
      expect(await gateway.end()).to.equal(0);
    }
  });

  it("need an address that is free", async () => {
    const taken = new RunningKesc(["gateway"], { ...place.variables, KESC_GATEWAY_PROCESSES: "1" });
    const { address } = await taken.ready;
    for (const threads of ["1", "2"]) {
      const variables = { ...place.variables, KESC_GATEWAY_PROCESSES: threads, KESC_HTTP_ADMIN_ADDRESS: address };
      const { code, stderr } = await kesc(["gateway"], variables);
      expect(code).to.equal(1);
      expect(stderr).to.match(/KESC_HTTP_ADMIN_ADDRESS: .*EADDRINUSE/);
    }
    await taken.end();
  });
});
