import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";
import { service as health } from "grpc-health-check";

import type { GrpcStream, Method } from "../../support/callers/grpc-caller.js";
import { eventually } from "../../support/eventually.js";
import { serve, type ServerUnderTest } from "../../support/service/grpc-server.js";

interface HealthAnswer {
  readonly status: string;
}
type HealthRpc = Method<{ readonly service: string }, HealthAnswer>;
const check = health["Check"] as HealthRpc;
const watch = health["Watch"] as HealthRpc;
const list = health["List"] as Method<object, { readonly statuses: Readonly<Record<string, HealthAnswer>> }>;

const GRACE_WITHOUT_END_MILLIS = 600_000;

function watching(under: ServerUnderTest, service: string): GrpcStream<unknown, HealthAnswer> {
  const stream = under.grpc.open(watch, { key: "" });
  stream.send({ service });
  stream.end();
  return stream;
}

function statusesOf({ responses }: GrpcStream<unknown, HealthAnswer>): string[] {
  return responses.map(({ status }) => status);
}

describe("grpc: health", () => {
  it("needs no key, and knows the server and each service", async () => {
    const under = await serve();
    for (const service of ["", "kesc.v1.AccountService", "kesc.v1.TransactionService", "grpc.health.v1.Health"]) {
      const { response } = await under.grpc.call(check, { service }, { key: "" });
      expect(response?.status, service).to.equal("SERVING");
    }
    const { response: listed } = await under.grpc.call(list, {}, { key: "" });
    expect(listed?.statuses).to.have.property("kesc.v1.AccountService").that.includes({ status: "SERVING" });
    const unknown = await under.grpc.call(check, { service: "nobody" }, { key: "" });
    expect(unknown.code).to.equal(Status.NOT_FOUND);
    await under.close();
  });

  it("follows the database: NOT_SERVING from the first failure to the first success", async () => {
    let failure: Error | undefined;
    const under = await serve({
      ping: async () => (failure === undefined ? Promise.resolve() : Promise.reject(failure)),
    });
    const stream = watching(under, "kesc.v1.AccountService");
    await eventually(() => stream.responses.length === 1);
    failure = new Error("gone");
    await eventually(() => stream.responses.length === 2);
    failure = undefined;
    await eventually(() => stream.responses.length === 3);
    expect(statusesOf(stream)).to.deep.equal(["SERVING", "NOT_SERVING", "SERVING"]);
    expect(under.lines.map(({ msg }) => msg)).to.include("the check of the database failed: health is NOT_SERVING");
    await under.close();
  });

  it("is NOT_SERVING until the database has answered once", async () => {
    const under = await serve({ ping: async () => Promise.reject(new Error("gone")) });
    expect((await under.grpc.call(check, { service: "" }, { key: "" })).response?.status).to.equal("NOT_SERVING");
    await under.close();
  });

  it("reports NOT_SERVING to watchers when the server stops, and ends their streams", async () => {
    const under = await serve();
    const stream = watching(under, "");
    await eventually(() => stream.responses.length === 1);
    // An open watch would hold the server for the whole grace, longer than a test may run.
    const stopping = under.server.stop(GRACE_WITHOUT_END_MILLIS);
    expect((await stream.ended).code).to.equal(Status.OK);
    expect(statusesOf(stream)).to.deep.equal(["SERVING", "NOT_SERVING"]);
    await stopping;
    under.grpc.close();
  });

  it("reports SERVICE_UNKNOWN to those who watch a service that nobody knows", async () => {
    const under = await serve();
    const stream = watching(under, "nobody");
    await eventually(() => stream.responses.length === 1);
    expect(statusesOf(stream)).to.deep.equal(["SERVICE_UNKNOWN"]);
    stream.cancel();
    await under.close();
  });

  it("survives a service name with half a surrogate pair", async () => {
    const under = await serve();
    const half: HealthRpc = { ...check, requestSerialize: () => Buffer.from([0x0a, 3, 0xed, 0xa0, 0x80]) };
    const { code } = await under.grpc.call(half, { service: "" }, { key: "" });
    expect(code).to.be.oneOf([Status.NOT_FOUND, Status.UNKNOWN]);
    expect((await under.grpc.call(check, { service: "" }, { key: "" })).response?.status).to.equal("SERVING");
    await under.close();
  });
});
