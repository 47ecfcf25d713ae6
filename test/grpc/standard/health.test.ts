import { type ClientReadableStream, Metadata, status as Status } from "@grpc/grpc-js";
import { expect } from "chai";
import { service as health } from "grpc-health-check";

import { call, eventually, serve, type ServerUnderTest } from "../../support/grpc-harness.js";

interface HealthAnswer {
  readonly status: string;
}
interface HealthRpc {
  readonly path: string;
  readonly requestSerialize: (request: { service: string }) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => HealthAnswer;
}
const check = health["Check"] as HealthRpc;
const watch = health["Watch"] as HealthRpc;

/** The answers of a Watch, as they come. */
function watching(under: ServerUnderTest, service: string) {
  const seen: string[] = [];
  const stream: ClientReadableStream<HealthAnswer> = under.client.makeServerStreamRequest(
    watch.path,
    watch.requestSerialize,
    watch.responseDeserialize,
    { service },
    new Metadata(),
  );
  stream.on("data", ({ status }: HealthAnswer) => seen.push(status));
  stream.on("error", () => undefined);
  const ended = new Promise<Status>((resolve) => {
    stream.on("status", ({ code }) => {
      resolve(code);
    });
  });
  return { seen, ended };
}

describe("grpc: health", () => {
  it("needs no key, and knows the server and each service", async () => {
    const under = await serve();
    for (const service of ["", "kesc.v1.AccountService", "kesc.v1.TransactionService", "grpc.health.v1.Health"]) {
      const { response } = await call(under.client, check, { service }, { metadata: {} });
      expect(response?.status, service).to.equal("SERVING");
    }
    const unknown = await call(under.client, check, { service: "nobody" }, { metadata: {} });
    expect(unknown.error?.code).to.equal(Status.NOT_FOUND);
    await under.close();
  });

  it("follows the database: the first failure ends it, the first success brings it back", async () => {
    let failure: Error | undefined;
    const under = await serve({
      ping: async () => (failure === undefined ? Promise.resolve() : Promise.reject(failure)),
    });
    const { seen } = watching(under, "kesc.v1.AccountService");
    await eventually(() => seen.length === 1);
    failure = new Error("gone");
    await eventually(() => seen.length === 2);
    failure = undefined;
    await eventually(() => seen.length === 3);
    expect(seen).to.deep.equal(["SERVING", "NOT_SERVING", "SERVING"]);
    expect(under.lines.map(({ msg }) => msg)).to.include("the database does not answer: not serving");
    await under.close();
  });

  it("is not serving before the database has answered once", async () => {
    const under = await serve({ ping: async () => Promise.reject(new Error("gone")) });
    expect((await call(under.client, check, { service: "" }, { metadata: {} })).response?.status).to.equal(
      "NOT_SERVING",
    );
    await under.close();
  });

  it("tells those who watch that the server stops, and lets them go", async () => {
    const under = await serve();
    const { seen, ended } = watching(under, "");
    await eventually(() => seen.length === 1);
    const stopping = under.server.stop(5_000);
    expect(await ended).to.equal(Status.OK);
    expect(seen).to.deep.equal(["SERVING", "NOT_SERVING"]);
    const startedAt = Date.now();
    await stopping;
    expect(Date.now() - startedAt).to.be.lessThan(1_000);
    under.client.close();
  });

  it("survives a service name with half a surrogate pair", async () => {
    const under = await serve();
    const half = { ...check, requestSerialize: () => Buffer.from([0x0a, 3, 0xed, 0xa0, 0x80]) };
    const { error } = await call(under.client, half, { service: "" }, { metadata: {} });
    expect(error?.code).to.be.oneOf([Status.NOT_FOUND, Status.UNKNOWN]);
    expect((await call(under.client, check, { service: "" }, { metadata: {} })).response?.status).to.equal("SERVING");
    await under.close();
  });
});
