import { toJson } from "@bufbuild/protobuf";
import { expect } from "chai";

import { readContract, type Route } from "../../../contract/contract.js";
import { type Json, parseJson } from "../../../contract/json/parse-json.js";
import { decodeRequest, type RequestParts } from "../../../gateway/rest/request-message.js";
import { toysContract } from "../../support/gateway/toys-contract.js";

const contract = readContract(toysContract());

const NO_QUERY = ["is not a query parameter of this path", "UNKNOWN_FIELD"] as const;
const WHOLE = ["must be a whole number", "WRONG_TYPE"] as const;
const ONCE = ["must be sent only once", "REPEATED"] as const;

describe("a request's path, query and body", () => {
  const [post, put, get, remove] = contract.routes;
  if (!post || !put || !get || !remove) throw new Error("a route of the toys is missing");

  for (const [name, route, parts, message] of [
    ["a path field", get, { pathValues: ["big box"] }, { box: "big box" }],
    ["a path field that is a number", remove, { pathValues: ["7"] }, { count: 7 }],
    ["a query", get, { query: "count=7" }, { box: "b", count: 7 }],
    [
      "a query that is percent-encoded",
      remove,
      { pathValues: ["1"], query: "box=a%20b%2Bc+d%C3%A9" },
      { box: "a b+c dé", count: 1 },
    ],
    ["an empty text", remove, { pathValues: ["1"], query: "box=&" }, { count: 1 }],
    ["an empty value that is no text, as not given", get, { query: "count=" }, { box: "b" }],
    ["a body that is one field", post, { body: '{"name": "bear"}' }, { box: "b", toy: { name: "bear" } }],
    ["a body that is null", post, { body: "null" }, { box: "b" }],
    [
      "a query beside a body that is one field",
      post,
      { query: "is_gift=true", body: "{}" },
      { box: "b", toy: {}, isGift: true },
    ],
    [
      "a repeated query",
      post,
      { query: "colors=red&colors=deep_blue" },
      { box: "b", colors: ["COLOR_RED", "COLOR_DEEP_BLUE"] },
    ],
    [
      "the pairs of a map",
      get,
      { query: "labels[a]=1&labels%5Bb%5D%5D=2+%26&labels[c]=&shelves[7]=8&count=1" },
      { box: "b", count: 1, labels: { a: "1", "b]": "2 &", c: "" }, shelves: { 7: 8 } },
    ],
    ["an empty value that is no text in a map, as not given", get, { query: "shelves[7]=" }, { box: "b" }],
    ["a body that is everything", put, { body: '{"box": "b", "toy": {"parts": 1}}' }, { box: "b", toy: { parts: 1 } }],
  ] as const) {
    it(`reads ${name}`, () => {
      expect(readParts(route, { pathValues: ["b"], ...parts })).to.deep.equal({ message, problems: [] });
    });
  }

  for (const [name, route, parts, field, problem, code] of [
    ["an unknown query", get, { query: "doll=1" }, "doll", ...NO_QUERY],
    ["an unknown query without a value", get, { query: "__proto__" }, "__proto__", ...NO_QUERY],
    ["a query that the path holds", get, { query: "box=x" }, "box", ...NO_QUERY],
    ["a query that the body holds", post, { query: "toy=x" }, "toy", ...NO_QUERY],
    ["any query when the body is everything", put, { query: "box=x" }, "box", ...NO_QUERY],
    ["a query that is given twice", get, { query: "count=1&count=1" }, "count", ...ONCE],
    ["a query of another type", get, { query: "count=many" }, "count", ...WHOLE],
    ["a query with a number in another writing", get, { query: "count=0x7" }, "count", ...WHOLE],
    ["a pair of a map that is given twice", get, { query: "labels[a]=1&labels[a]=1" }, "labels[a]", ...ONCE],
    [
      "a map without a key",
      get,
      { query: "labels=1" },
      "labels",
      "must be sent as labels[key]=value or labels=key=value, for each pair",
      "FORMAT",
    ],
    [
      "a key of another type",
      get,
      { query: "shelves[a]=1" },
      "shelves[a]",
      "has a key that must be a whole number",
      "WRONG_TYPE",
    ],
    ["a value of another type in a map", get, { query: "shelves[1]=x" }, "shelves[1]", ...WHOLE],
    [
      "a key of a field that is no map",
      get,
      { query: "count[1]=1" },
      "count[1]",
      `${NO_QUERY[0]} (did you mean count?)`,
      NO_QUERY[1],
    ],
    [
      "a bracket that is not closed",
      get,
      { query: "labels[a=1" },
      "labels[a",
      `${NO_QUERY[0]} (did you mean labels?)`,
      NO_QUERY[1],
    ],
    ["a query that is not UTF-8", remove, { query: "box=%ff" }, "box", "must be percent-encoded UTF-8", "FORMAT"],
    ["a query with a broken escape", remove, { query: "box=%zz" }, "box", "must be percent-encoded UTF-8", "FORMAT"],
    [
      "a query whose name has a broken escape",
      get,
      { query: "%zz=1" },
      "query",
      "has a name that is not percent-encoded UTF-8",
      "FORMAT",
    ],
    [
      "a repeated query with a bad item",
      post,
      { query: "colors=red&colors=x" },
      "colors",
      "must be one of red, deep_blue",
      "UNKNOWN_VALUE",
    ],
    ["a boolean in another writing", post, { query: "is_gift=TRUE" }, "is_gift", "must be true or false", "WRONG_TYPE"],
    ["a path field of another type", remove, { pathValues: ["all"] }, "count", ...WHOLE],
    [
      "a bad field of a body that is one field, named as in the body",
      post,
      { body: '{"doll": 1}' },
      "doll",
      "is not a field of this request",
      "UNKNOWN_FIELD",
    ],
    ["a body of another type, named after the field", post, { body: "7" }, "toy", "must be an object", "WRONG_TYPE"],
  ] as const) {
    it(`refuses ${name}`, () => {
      const pathValues = route === remove ? ["1"] : ["b"];
      expect(readParts(route, { pathValues, ...parts }).problems).to.deep.equal([{ field, code, message: problem }]);
    });
  }

  it("refuses a body's field that the path holds, unless it is null", () => {
    const route: Route = { ...post, body: { kind: "all" } };
    expect(readParts(route, { pathValues: ["b"], body: '{"box": null}' }).problems).to.deep.equal([]);
    expect(readParts(route, { pathValues: ["b"], body: '{"box": "b"}' })).to.deep.equal({
      message: { box: "b" },
      problems: [{ field: "box", code: "CONFLICT", message: "is in the path and must not be in the body" }],
    });
  });
});

function json(text: string): Json {
  const result = parseJson(text);
  if (!result.ok) throw new Error(`the test's own JSON ${result.problem}`);
  return result.value;
}

function readParts(route: Route, parts: { pathValues?: readonly string[]; query?: string; body?: string }) {
  const given: RequestParts = {
    pathValues: parts.pathValues ?? [],
    query: parts.query ?? "",
    body: parts.body === undefined ? undefined : { kind: "json", json: json(parts.body) },
  };
  const { message, problems } = decodeRequest(route, contract, given);
  return { message: toJson(route.rpc.input, message), problems };
}
