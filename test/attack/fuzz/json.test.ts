import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "chai";
import fc from "fast-check";

import { ROUTES, textOf } from "../../support/callers/contract-requests.js";
import { type InProcess, startInProcess } from "../../support/service/in-process.js";
import { expectBooks, expectNoPollution, expectSaid } from "./checks/what-was-said.js";
import { givenThings } from "./given-things.js";
import { type FuzzedRequest, requestsOf } from "./inputs/rest-requests.js";
import type { Known } from "./inputs/values.js";
import { PROPERTY_MILLIS_MAX, runs } from "./runs.js";

const RUNS = 20;

describe("fuzz: JSON, paths and queries", function () {
  this.timeout(PROPERTY_MILLIS_MAX);
  let service: InProcess;
  let known: Known;
  const met = new Set<string>();

  before(async () => {
    service = await startInProcess("sqlite");
    known = await givenThings(service);
  });
  after(() => service.dispose());

  for (const route of ROUTES) {
    const name = `${route.method} ${route.path.text}`;
    it(`${name} survives any request, does what its response says, and nothing when it refuses`, async () => {
      const fields = new Set(route.rpc.input.fields.map((field) => field.name));
      // A public rpc writes to no book.
      const writes = route.method !== "GET" && !route.isPublic;
      const check = async ({ path, call, repeatsKey }: FuzzedRequest): Promise<void> => {
        const before = await service.books();
        const { status, headers, json } = await service.rest.send(route.method, path, call);
        met.add(textOf((json as JsonObject)["code"] ?? status));
        expect(status, JSON.stringify(json)).to.be.lessThan(500);
        const accepted = status < 300;
        const resource = accepted && route.responseField !== undefined ? (json as JsonObject) : undefined;
        const replayed = headers["idempotent-replayed"] === "true";
        const results = accepted ? (json["results"] as JsonObject[] | undefined) : undefined;
        expectBooks(before, await service.books(), { accepted, replayed, resource, results }, writes);
        // A public rpc reads no key.
        if (repeatsKey && !route.isPublic) expect(accepted).to.equal(false);
        if (resource !== undefined && typeof call.body === "string" && route.body.kind !== "raw") {
          // The service ignores a byte order mark, as RFC 8259 lets it.
          const text = call.body.replace(/^\uFEFF/, "");
          const sent = JSON.parse(text === "" ? "{}" : text) as JsonObject;
          expect(Object.keys(sent).filter((key) => !fields.has(key))).to.deep.equal([]);
          expectSaid(sent, resource);
        }
      };
      const requests = requestsOf(route, known, service.a.key);
      await fc.assert(fc.asyncProperty(requests, check), runs(RUNS));
      expectNoPollution();
    });
  }

  it("met the responses that it looks for", () => {
    expect([...met]).to.include.members(["200", "201", "INVALID_FIELD", "MALFORMED_BODY", "ACCOUNT_NOT_FOUND"]);
  });
});
