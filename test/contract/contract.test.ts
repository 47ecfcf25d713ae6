import { readFileSync } from "node:fs";

import { expect } from "chai";

import { CONTRACT_URL, readContract, type Route } from "../../contract/contract.js";
import { TOY_RPCS, TOY_STREAMS, type ToyRpc, toysContract } from "../support/gateway/toys-contract.js";

describe("the gateway's view of a contract", () => {
  // docs/api.md names every route, and test/lint/contract.test.ts compares it with the contract.
  it("reads the routes of the service's own contract, with what each answers", () => {
    expect(readContract(readFileSync(CONTRACT_URL)).routes.map(summary)).to.include.members([
      "POST /accounts * → account of /kesc.v1.AccountService/CreateAccount, then /accounts/{id}",
      "GET /accounts → /kesc.v1.AccountService/ListAccounts",
      "GET /accounts/{account_id} → account of /kesc.v1.AccountService/GetAccount",
      "POST /accounts/{account_id}/freeze * → /kesc.v1.AccountService/FreezeAccount",
      "POST /callbacks/{token} raw body → body of /kesc.v1.RailService/ReceiveCallback",
      "POST /transactions/batch * → /kesc.v1.TransactionService/BatchCreateTransactions",
    ]);
  });

  it("finds the routes of an unknown contract, with their additional bindings", () => {
    expect(readContract(toysContract()).routes.map(summary)).to.deep.equal([
      "POST /boxes/{box}/toys toy → /toys.v1.ToyService/BuildToy, then /boxes/{box}/toys/{name}",
      "PUT /toys * → /toys.v1.ToyService/BuildToy, then /boxes/{box}/toys/{name}",
      "GET /boxes/{box}/toys → toys of /toys.v1.ToyService/FindToys",
      "DELETE /toys/{count} → /toys.v1.ToyService/FindToys",
    ]);
  });

  it("knows which routes need no key", () => {
    const { routes } = readContract(readFileSync(CONTRACT_URL));
    expect(routes.filter(({ isPublic }) => isPublic).map(({ path }) => path.text)).to.deep.equal([
      "/callbacks/{token}",
    ]);
  });

  it("recognizes a decimal by its option", () => {
    const { registry, isDecimal } = readContract(toysContract());
    const fields = registry.getMessage("toys.v1.Toy")?.fields ?? [];
    expect(fields.filter((field) => isDecimal(field)).map(({ name }) => name)).to.deep.equal(["price"]);
  });

  const [build] = TOY_RPCS;
  if (build === undefined) throw new Error("there are no toys");
  for (const [name, change, problem] of [
    ["a path field that the request lacks", { http: { get: "/toys/{maker}" } }, "has no field maker"],
    ["a path field that is not one scalar", { http: { get: "/toys/{toy}" } }, "a path cannot hold the field toy"],
    ["a wildcard in a path", { http: { get: "/toys/{box=**}" } }, 'cannot serve the segment "{box=**}"'],
    ["a verb after a colon", { http: { post: "/toys:paint", body: "*" } }, 'cannot serve the segment "toys:paint"'],
    ["a path without a slash", { http: { get: "toys" } }, "does not begin with a slash"],
    ["a body field that the request lacks", { http: { post: "/toys", body: "doll" } }, "has no field doll"],
    ["a response field that the response lacks", { http: { get: "/toys", responseBody: "doll" } }, "has no field doll"],
    ["a custom method", { http: { custom: { kind: "SHAKE", path: "/toys" } } }, "one of get, post, put"],
    ["a location with a field that the resource lacks", { location: "/toys/{id}" }, "has no field id"],
    ["a message that it cannot map", { input: "Slow", http: { get: "/t" } }, "cannot map google.protobuf.Duration"],
    [
      "an HTTP body inside a message",
      { input: "Parcel", http: { post: "/t", body: "*" } },
      "cannot map google.api.HttpBody",
    ],
    ["an HTTP body in a query", { input: "Parcel", http: { get: "/t" } }, "cannot map google.api.HttpBody"],
    ["an HTTP body inside a response", { output: "Parcel", location: "" }, "cannot map google.api.HttpBody"],
    ["a refusal in a request", { input: "Report", http: { get: "/t" } }, "cannot map google.rpc.Status"],
  ] satisfies [string, Partial<ToyRpc>, string][]) {
    it(`refuses to start with ${name}, and names the rpc`, () => {
      const read = () => readContract(toysContract([{ ...build, ...change }]));
      expect(read).to.throw(problem).with.property("message").that.includes("toys.v1.ToyService/BuildToy");
    });
  }

  const [, watch, stream] = TOY_STREAMS;
  if (watch === undefined || stream === undefined) throw new Error("there are no streams of toys");
  for (const [name, rpc, change, problem] of [
    ["that is no get", watch, { http: { post: "/t", body: "*" } }, "must be one get"],
    ["with two paths", watch, { http: { get: "/t", additionalBindings: [{ get: "/u" }] } }, "must be one get"],
    ["that shows one field", watch, { http: { get: "/t", responseBody: "sightings" } }, "must be one get"],
    ["without a list", watch, { output: "Sighting" }, "must have one list"],
    ["with a list of texts", watch, { output: "Toy" }, "must have one list"],
    ["that resumes by a field that the request lacks", watch, { resumesBy: "since" }, "has no int64 since"],
    ["that resumes by a text", watch, { resumesBy: "box" }, "has no int64 box"],
    ["whose items have no sequence", watch, { output: "FindToysResponse" }, "has no int64"],
    ["that ends, and has more than its list", stream, { output: "WatchToysResponse" }, "nothing but its list"],
  ] satisfies [string, ToyRpc, Partial<ToyRpc>, string][]) {
    it(`refuses to start with a stream ${name}`, () => {
      expect(() => readContract(toysContract([{ ...rpc, ...change }]))).to.throw(problem);
    });
  }

  it("refuses a number that is no int64", () => {
    const message = {
      name: "Odd",
      field: [{ name: "sequence", number: 1, type: "TYPE_STRING", label: "LABEL_OPTIONAL" }],
    };
    expect(() => readContract(toysContract([], [message]))).to.throw("has the option number on sequence: no int64");
  });

  it("refuses two streams on one path, and lets a stream share it with a list", () => {
    expect(() => readContract(toysContract([watch, { ...watch, name: "Other" }]))).to.throw(
      "both claim GET /sightings",
    );
    expect(
      readContract(toysContract(TOY_STREAMS)).routes.map(({ rpc, stream }) => [rpc.path, stream?.list.name]),
    ).to.deep.equal([
      ["/toys.v1.ToyService/ListSightings", undefined],
      ["/toys.v1.ToyService/WatchToys", "sightings"],
      ["/toys.v1.ToyService/ExportToys", "toys"],
      ["/toys.v1.ToyService/ListToys", undefined],
      ["/toys.v1.ToyService/StreamToys", "toys"],
    ]);
  });

  it("refuses two rpcs on one method and path", () => {
    const rpcs = [build, { ...build, name: "Other", http: { put: "/toys" } }];
    expect(() => readContract(toysContract(rpcs))).to.throw("both claim PUT /toys");
  });
});

function summary({ method, path, body, responseField, rpc, location }: Route): string {
  const bodyText =
    { none: "", all: " *", field: "", raw: " raw" }[body.kind] + ("field" in body ? ` ${body.field.name}` : "");
  const responseText = responseField === undefined ? "" : `${responseField.name} of `;
  const locationText = location === undefined ? "" : `, then ${location.path.text}`;
  return `${method} ${path.text}${bodyText} → ${responseText}${rpc.path}${locationText}`;
}
