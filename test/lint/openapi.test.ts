import { readFileSync } from "node:fs";

import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Spectral } from "@stoplight/spectral-core";
import { oas } from "@stoplight/spectral-rulesets";
import { expect } from "chai";

import { CONTRACT_URL, readContract } from "../../contract/contract.js";
import { reasonsOf } from "../../gateway/problems/reasons.js";
import { readContract as readServerContract } from "../../src/grpc/messages/contract.js";
import { OPENAPI, OPENAPI_TEXT, OPERATIONS } from "../support/openapi/document.js";
import { kesc } from "../support/service/kesc.js";

const WIDE: ReadonlySet<unknown> = new Set(["number", "integer"]);
const WIDTHS: ReadonlySet<unknown> = new Set(["double", "int32", "int64"]);

/** All objects in the document, schemas among them. */
function schemasIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== "object" || value === null) return [];
  const inside = Object.values(value).flatMap(schemasIn);
  return Array.isArray(value) ? inside : [value as Record<string, unknown>, ...inside];
}

describe("the OpenAPI document", () => {
  const { routes, registry } = readContract(readFileSync(CONTRACT_URL));

  it("is what kesc openapi prints", async () => {
    const { code, stdout } = await kesc(["openapi"], {});
    expect(code).to.equal(0);
    expect(stdout === OPENAPI_TEXT).to.equal(true);
  });

  it("has an operation for each method and path that clients call, and no other", () => {
    const expected = new Set(
      routes.filter(({ isPublic }) => !isPublic).map(({ method, path }) => `${method} ${path.text}`),
    );
    const documented = OPERATIONS.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(documented).to.have.members([...expected]);
  });

  it("names each rpc that has a route, with the scope that the server demands", () => {
    const { services } = readServerContract();
    const scopes = new Map(
      services.flatMap(({ rpcs }) => rpcs.map(({ path, requiredScope }) => [path, requiredScope])),
    );
    for (const { rpc, method, path, isPublic } of routes) {
      if (isPublic) continue;
      const operation = OPENAPI.paths[path.text]?.[method.toLowerCase()];
      expect(operation?.description, rpc.path).to.include(`gRPC: \`${rpc.path.slice(1)}\``);
      const scope = scopes.get(rpc.path);
      expect(operation?.["x-required-scope"], rpc.path).to.equal(scope);
      expect(operation?.security, rpc.path).to.have.lengthOf(2);
    }
  });

  it("has a schema and an example for each reason that REST can give", () => {
    // gRPC alone has these, and only /readyz, an unknown path or a wrong method have those.
    const elsewhere = ["UNSUPPORTED_COMPRESSION", "NO_SUCH_RPC", "NOT_READY", "NO_SUCH_ROUTE", "METHOD_NOT_ALLOWED"];
    const codes = reasonsOf(registry).map(({ code }) => code);
    const documented = Object.keys(OPENAPI.components.examples);
    expect(codes.filter((code) => !documented.includes(code))).to.have.members(elsewhere);
  });

  it("says something about each operation, parameter and member", () => {
    const silent = OPERATIONS.filter(({ operation }) => operation.summary === "").map(
      ({ operation }) => operation.operationId,
    );
    for (const [name, schema] of Object.entries(OPENAPI.components.schemas)) {
      const properties = (schema["properties"] ?? {}) as Record<string, Record<string, unknown>>;
      if (name.endsWith("Problem")) continue;
      for (const [member, { description }] of Object.entries(properties)) {
        if (description === undefined || description === "") silent.push(`${name}.${member}`);
      }
    }
    expect(silent).to.deep.equal([]);
  });

  it("gives each number a format: without one, generators of Go make a type that loses cents", () => {
    const numbers = schemasIn(OPENAPI).filter(({ type }) => [type].flat().some((each) => WIDE.has(each)));
    expect(numbers).to.have.length.greaterThan(100);
    expect(numbers.filter(({ format }) => !WIDTHS.has(format))).to.deep.equal([]);
    const amounts = numbers.filter(({ maximum }) => maximum === 9_999_999_999_999.99);
    expect(amounts.map(({ format }) => format))
      .to.include("double")
      .and.not.include("float");
  });

  it("has no name twice among schemas and security schemes, nor one that generators give to what an operation returns", () => {
    const names = [...Object.keys(OPENAPI.components.schemas), ...Object.keys(OPENAPI.components.securitySchemes)];
    expect(names).to.deep.equal([...new Set(names)]);
    expect(names.filter((name) => name.endsWith("Response"))).to.deep.equal([]);
  });

  it("holds each webhook as a reference: openapi-generator makes a call of one in full, and writes it over the others", () => {
    const { webhooks, components } = OPENAPI;
    const names = Object.keys(components.pathItems);
    expect(names).to.have.lengthOf(1);
    const references = names.map((name) => ({ $ref: `#/components/pathItems/${name}` }));
    expect(Object.values(webhooks)).to.deep.equal(references);
  });

  it("says nothing of gRPC's details of errors, but for the items of a batch, which have them", () => {
    expect(OPENAPI_TEXT.match(/google\.rpc\.\w+|RetryInfo|BadRequest/g) ?? []).to.have.lengthOf.at.most(3);
  });

  it("is valid by every recommended rule of Spectral", async () => {
    const spectral = new Spectral();
    spectral.setRuleset({ extends: [[oas as never, "recommended"]], rules: {} });
    const results = await spectral.run(OPENAPI_TEXT);
    expect(results.map(({ code, path, message }) => `${String(code)} ${path.join(".")}: ${message}`)).to.deep.equal([]);
  });

  it("is valid by every recommended rule of Redocly, at its strictest", async () => {
    const config = await createConfig({ extends: ["recommended-strict"] });
    const problems = await lintFromString({ source: OPENAPI_TEXT, absoluteRef: "openapi.json", config });
    expect(
      problems.map(({ ruleId, location, message }) => `${ruleId} ${location[0]?.pointer ?? ""}: ${message}`),
    ).to.deep.equal([]);
  });
});
