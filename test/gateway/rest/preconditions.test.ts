import { expect } from "chai";

import { TOY_STREAMS, TOY_VERSIONS } from "../../support/gateway/toys-contract.js";
import { ToysGateway } from "../../support/gateway/toys-gateway.js";

const SEVEN = { message: { name: "bear", etag: "7" } };
const NO_VERSION = "must not be sent: this call has no version to compare it with";
const NOT_ONE = 'must be one strong entity tag in double quotes, such as "42", or *';

describe("the version of a resource", () => {
  const toys = ToysGateway.ofSuite([...TOY_VERSIONS, ...TOY_STREAMS.slice(0, 2)]);
  beforeEach(() => {
    toys.server.calls.splice(0);
    toys.server.handle = () => SEVEN;
  });
  const paint = (headers: Record<string, string>, body = "{}") =>
    toys.fetch("/toys/bear", { method: "PATCH", headers: { ...headers, "content-type": "application/json" }, body });

  it("is the header ETag and a member of the body", async () => {
    for (const response of [await toys.fetch("/toys/bear"), await paint({})]) {
      expect([response.status, response.headers.get("etag")]).to.deep.equal([200, '"7"']);
      expect(await response.json()).to.include({ etag: "7" });
    }
  });

  it("is no header where the resource has none", async () => {
    toys.server.handle = () => ({ message: { name: "bear" } });
    expect((await toys.fetch("/toys/bear")).headers.get("etag")).to.equal(null);
  });

  for (const [ifMatch, message] of [
    ['"7"', { name: "bear", etag: "7" }],
    [' "a b"', undefined],
    ["*", { name: "bear" }],
    ["7", undefined],
    ['W/"7"', undefined],
    ['"7", "8"', undefined],
    ['""', undefined],
  ] as const) {
    it(`${message === undefined ? "refuses" : "takes"} If-Match ${ifMatch}`, async () => {
      const response = await paint({ "if-match": ifMatch });
      if (message === undefined) await expectProblem(response, "if-match", "FORMAT", NOT_ONE);
      else expect(toys.server.takeCall().message).to.deep.equal(message);
    });
  }

  it("must not stand in the body", async () => {
    const message = "is in the header If-Match and must not be in the body";
    await expectProblem(await paint({}, '{"etag": "7"}'), "etag", "CONFLICT", message);
  });

  for (const name of ["if-match", "if-none-match"]) {
    it(`makes ${name} a fault of a call that cannot check it, which does nothing`, async () => {
      toys.server.handle = () => ({});
      const response = await toys.fetch("/toys", { method: "DELETE", headers: { [name]: '"7"' } });
      await expectProblem(response, name, "CONFLICT", NO_VERSION);
      expect(toys.server.takeCall().metadata).to.include({ "kesc-validate-only": "true" });
    });
  }

  it("makes If-Match a fault of a read and of a stream", async () => {
    for (const [path, accept] of [
      ["/toys/bear", "*/*"],
      ["/sightings", "text/event-stream"],
    ] as const) {
      const response = await toys.fetch(path, { headers: { "if-match": '"7"', accept } });
      await expectProblem(response, "if-match", "CONFLICT", NO_VERSION);
    }
  });

  it("is sent whole to a read with If-None-Match", async () => {
    const response = await toys.fetch("/toys/bear", { headers: { "if-none-match": '"7"' } });
    expect([response.status, await response.json()]).to.deep.equal([200, SEVEN.message]);
  });
});

async function expectProblem(response: Response, field: string, code: string, message: string): Promise<void> {
  const { errors } = (await response.json()) as { errors: unknown };
  expect(errors).to.deep.equal([{ field, code, message }]);
}
