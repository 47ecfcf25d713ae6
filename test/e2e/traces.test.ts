import { expect } from "chai";

import { OtlpReceiver, type ReceivedSpan } from "../support/callers/otlp-receiver.js";
import { eventually } from "../support/eventually.js";
import { fresh } from "../support/service/each-engine.js";
import { kesc } from "../support/service/kesc.js";
import { Service } from "../support/service/service.js";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const UNRECORDED = "5bf92f3577b34da6a3ce929d0e0e4736";
const SPAN_ID = "00f067aa0ba902b7";

interface Line {
  readonly trace_id?: string;
  readonly msg: string;
  readonly method: string;
  readonly route?: string;
}

describe("traces", () => {
  const receiver = new OtlpReceiver();
  let service: Service;
  let lines: readonly Line[];

  /** All calls are made first. The programs export their spans at the latest when they stop. */
  before(async () => {
    const endpoint = await receiver.start();
    service = await Service.start("sqlite", { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, KESC_GATEWAY_PROCESSES: "1" });
    const account = await service.rest("POST", "/accounts", {
      body: { user_id: "u", phone_number: "0712345678", email: "u@example.com" },
    });
    const mint = (traceparent?: string) =>
      service.rest("POST", "/transactions/mint", {
        body: { account_id: account.json["id"], amount: 1, reference: fresh("trace") },
        headers: traceparent === undefined ? {} : { traceparent },
      });
    expect((await mint()).status).to.equal(201);
    expect((await mint(`00-${TRACE_ID}-${SPAN_ID}-01`)).status).to.equal(201);
    expect((await mint(`00-${UNRECORDED}-${SPAN_ID}-00`)).status).to.equal(201);
    expect(await service.stop()).to.equal(0);
    await eventually(() => receiver.spans.some(({ name }) => name === "commit"));
    lines = service
      .printed()
      .split("\n")
      .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Line] : []));
  });
  after(async () => {
    receiver.stop();
    await service.dispose();
  });

  const spansOf = (traceId: string): readonly ReceivedSpan[] =>
    ["POST /transactions/mint", "kesc.v1.TransactionService/Mint", "commit"].map((name) => {
      const found = receiver.spans.filter((span) => span.traceId === traceId && span.name === name);
      expect(found, name).to.have.length(1);
      return found[0] as ReceivedSpan;
    });
  const mints = (): readonly Line[] =>
    lines.filter(({ method, route }) => method === "TransactionService/Mint" || route === "/transactions/mint");

  it("have the gateway's request, the server's call and the commit, each below the one before", () => {
    const own = mints().find(({ trace_id }) => trace_id !== TRACE_ID && trace_id !== UNRECORDED)?.trace_id ?? "";
    const [request, call, commit] = spansOf(own) as [ReceivedSpan, ReceivedSpan, ReceivedSpan];
    expect(receiver.spans.filter(({ traceId }) => traceId === own)).to.have.length(3);
    expect(request.parentSpanId ?? "").to.equal("");
    expect(call.parentSpanId).to.equal(request.spanId);
    expect(commit.parentSpanId).to.equal(call.spanId);
    expect(commit.links.map(({ traceId, spanId }) => [traceId, spanId])).to.deep.equal([[own, call.spanId]]);
    expect([request.service, call.service, commit.service]).to.deep.equal([
      "kesc-gateway",
      "kesc-server",
      "kesc-server",
    ]);
    expect(request.attributes).to.include({ "http.route": "/transactions/mint", "http.response.status_code": 201 });
    expect(call.attributes).to.include({ "rpc.system.name": "grpc", "rpc.status_code": "OK" });
    expect(commit.attributes).to.include({ "kesc.batch_size": 1 });
    // The log lines of both programs have the same trace id.
    expect(mints().filter(({ trace_id }) => trace_id === own)).to.have.length(2);
  });

  it("go on from the caller's own span", () => {
    const [request] = spansOf(TRACE_ID);
    expect(request?.parentSpanId).to.equal(SPAN_ID);
    expect(mints().filter(({ trace_id }) => trace_id === TRACE_ID)).to.have.length(2);
  });

  it("are not recorded when the caller says so, and the log still has the trace id", () => {
    expect(receiver.spans.filter(({ traceId }) => traceId === UNRECORDED)).to.deep.equal([]);
    expect(mints().filter(({ trace_id }) => trace_id === UNRECORDED)).to.have.length(2);
  });

  it("hold no phone number, no e-mail address and no key", () => {
    expect(JSON.stringify(receiver.spans)).not.to.match(/712345678|example\.com|kesc_0_|kesc_test_/);
  });

  it("need variables that can be used: each program names the one that is wrong, and exits with 2", async () => {
    for (const command of ["server", "gateway"]) {
      const variables = { ...service.variables, KESC_GATEWAY_PROCESSES: "1", OTEL_EXPORTER_OTLP_ENDPOINT: "nowhere" };
      const { code, stderr } = await kesc([command], variables);
      expect(stderr).to.include("OTEL_EXPORTER_OTLP_ENDPOINT must be a URL");
      expect(code).to.equal(2);
    }
  });
});
