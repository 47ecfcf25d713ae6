import { expect } from "chai";

import { TOY_RPCS, TOY_STREAMS } from "../../support/gateway/toys-contract.js";
import { ToysGateway } from "../../support/gateway/toys-gateway.js";

const JSON_TYPE = "application/json; charset=utf-8";
const SSE = "text/event-stream";
const LINES = "application/x-ndjson";
const CSV = "text/csv; charset=utf-8; header=present";

describe("the header Accept", () => {
  const gateway = ToysGateway.ofSuite([...TOY_STREAMS, ...TOY_RPCS.slice(1, 2)]);
  beforeEach(() => {
    gateway.server.handle = ({ rpc }) => (rpc.startsWith("List") ? {} : { messages: [{}] });
  });

  const served = (accept: string | undefined, path: string) =>
    gateway.fetch(path, { headers: accept === undefined ? {} : { accept } });

  for (const [path, accept, type, rpc] of [
    ["/sightings", undefined, JSON_TYPE, "ListSightings"],
    ["/sightings", "*/*", JSON_TYPE, "ListSightings"],
    ["/sightings", "application/json", JSON_TYPE, "ListSightings"],
    ["/sightings", "application/json; charset=utf-8", JSON_TYPE, "ListSightings"],
    ["/sightings", "application/*", JSON_TYPE, "ListSightings"],
    ["/sightings", "text/html, application/xhtml+xml, */*;q=0.8", JSON_TYPE, "ListSightings"],
    ["/sightings", "text/event-stream", SSE, "WatchToys"],
    ["/sightings", "TEXT/EVENT-STREAM", SSE, "WatchToys"],
    ["/sightings", "text/event-stream;charset=UTF-8", SSE, "WatchToys"],
    ["/sightings", "text/*", SSE, "WatchToys"],
    ["/sightings", "application/json;q=0.5, text/event-stream", SSE, "WatchToys"],
    ["/sightings", "text/event-stream;q=0.5, application/json;q=0.4", SSE, "WatchToys"],
    ["/sightings", "*/*;q=0.1, application/json;q=0", SSE, "WatchToys"],
    ["/sightings", "application/x-ndjson", LINES, "WatchToys"],
    ["/v1/sightings", "application/x-ndjson", LINES, "WatchToys"],
    ["/boxes/a/export", "*/*", JSON_TYPE, "ExportToys"],
    ["/boxes/a/export", "application/json", JSON_TYPE, "ExportToys"],
    ["/boxes/a/export", "application/x-ndjson", LINES, "ExportToys"],
    ["/boxes/a/export", "text/csv", CSV, "ExportToys"],
    ["/boxes/a/export", 'text/csv; header="present"', CSV, "ExportToys"],
    ["/toys", "*/*", JSON_TYPE, "ListToys"],
    ["/toys", "text/csv", CSV, "StreamToys"],
    ["/toys", "application/x-ndjson", LINES, "StreamToys"],
  ] as const) {
    it(`${accept ?? "that is absent"} at ${path} gets ${type} from ${rpc}`, async () => {
      gateway.server.calls.splice(0);
      const response = await served(accept, path);
      await response.text();
      expect([response.status, response.headers.get("content-type")]).to.deep.equal([200, type]);
      expect(response.headers.get("vary")).to.equal("Accept");
      expect(gateway.server.takeCall().rpc).to.equal(rpc);
    });
  }

  for (const [accept, status] of [
    [undefined, 200],
    ["*/*", 200],
    ["application/json", 200],
    ["application/json, text/plain, */*", 200],
    ["application/json; charset=utf-8", 200],
    ["application/xml", 406],
    ["application/json;q=0", 406],
  ] as const) {
    it(`${accept ?? "that is absent"} at a path that has JSON alone gets ${String(status)}`, async () => {
      gateway.server.calls.splice(0);
      expect((await served(accept, "/boxes/a/toys")).status).to.equal(status);
      expect(gateway.server.calls).to.have.lengthOf(status === 200 ? 1 : 0);
    });
  }

  for (const [path, accept, types] of [
    ["/sightings", "text/csv", "application/json, text/event-stream, application/x-ndjson"],
    ["/sightings", "text/html", "application/json, text/event-stream, application/x-ndjson"],
    ["/sightings", "application/json;q=0", "application/json, text/event-stream, application/x-ndjson"],
    ["/sightings", "nonsense", "application/json, text/event-stream, application/x-ndjson"],
    ["/toys", "text/event-stream", "application/json, application/x-ndjson, text/csv"],
    ["/boxes/a/export", "text/event-stream", "application/json, application/x-ndjson, text/csv"],
  ] as const) {
    it(`${accept} at ${path} is refused, and the problem names what is served`, async () => {
      gateway.server.calls.splice(0);
      const response = await served(accept, path);
      const problem = (await response.json()) as Record<string, unknown>;
      expect([response.status, problem["code"]]).to.deep.equal([406, "NOT_ACCEPTABLE"]);
      expect(problem["detail"]).to.equal(`This path serves only the types ${types}.`);
      expect(response.headers.get("vary")).to.equal("Accept");
      expect(gateway.server.calls).to.deep.equal([]);
    });
  }
});
