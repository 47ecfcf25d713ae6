import { expect } from "chai";

import { type FoundOperation, OPERATIONS, type Parameter, resolved, type Schema } from "../support/openapi/document.js";
import { type ExampleRequest, exampleRequest, parametersOf, targetOf } from "../support/openapi/example-requests.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";

// The document takes its limits from the comments of the contract. Here the server says whether
// they are its own: it must refuse what is beyond a limit, and nothing within for its size.

interface Case {
  readonly what: string;
  readonly value: unknown;
  readonly isAllowed: boolean;
}

const SEQUENCE_MAX = Number.MAX_SAFE_INTEGER;
const OF_SIZE = ["TOO_LONG", "TOO_MANY", "OUT_OF_RANGE"];

/** Values at each limit of the schema, and just beyond. */
function casesOf(schema: Schema): readonly Case[] {
  const { maxLength, minimum, maximum, maxProperties, maxItems, minItems } = schema as Record<
    string,
    number | undefined
  >;
  const both = (what: string, within: unknown, beyond: unknown): Case[] => [
    { what: `${what}, within`, value: within, isAllowed: true },
    { what: `${what}, beyond`, value: beyond, isAllowed: false },
  ];
  const pairs = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${String(index)}`, "v"]));
  const keyMax = (schema["propertyNames"] as Schema | undefined)?.["maxLength"] as number | undefined;
  const valueMax = (schema["additionalProperties"] as Schema | undefined)?.["maxLength"] as number | undefined;
  const mint = { mint: { account_id: "acc_1", amount: "1.00", reference: "r" } };
  return [
    ...(maxLength === undefined ? [] : both("the length", "x".repeat(maxLength), "x".repeat(maxLength + 1))),
    // Whether a book has so many rows is another question.
    ...(maximum === undefined ? [] : both("the maximum", maximum, maximum + 1).slice(maximum === SEQUENCE_MAX ? 1 : 0)),
    ...(minimum === undefined ? [] : both("the minimum", minimum, minimum - 1)),
    ...(maxProperties === undefined ? [] : both("the pairs", pairs(maxProperties), pairs(maxProperties + 1))),
    ...(keyMax === undefined ? [] : both("the key", { ["k".repeat(keyMax)]: "v" }, { ["k".repeat(keyMax + 1)]: "v" })),
    ...(valueMax === undefined ? [] : both("the value", { k: "v".repeat(valueMax) }, { k: "v".repeat(valueMax + 1) })),
    ...(maxItems === undefined
      ? []
      : both("the items", Array<object>(maxItems).fill(mint), Array<object>(maxItems + 1).fill(mint))),
    ...(minItems === undefined ? [] : [{ what: "too few items", value: [], isAllowed: false }]),
    ...(isAmount(schema) ? AMOUNTS : []),
  ];
}

const AMOUNTS: readonly Case[] = [
  ...["0.01", "1000", "1000.5", "9999999999999.99"].map((value) => ({ what: value, value, isAllowed: true })),
  ...["0.00", "-1.00", "1.005", "01.00", "10000000000000.00", "1e3", "x"].map((value) => ({
    what: value,
    value,
    isAllowed: false,
  })),
];

function isAmount(schema: Schema): boolean {
  const text = ((schema["anyOf"] as Schema[] | undefined)?.[0] ?? schema)["pattern"];
  return typeof text === "string" && text.includes("{0,12}");
}

describe("the limits of the OpenAPI document", () => {
  let service: InProcess;
  let count = 0;
  before(async () => {
    service = await startInProcess("sqlite");
  });
  after(() => service.dispose());

  async function expectLimit(
    found: FoundOperation,
    field: string,
    request: ExampleRequest,
    given: Case,
  ): Promise<void> {
    const { method } = found;
    const { key } = service.a;
    const { headers, body } = request;
    const { status, json, text } = await service.rest.send(method.toUpperCase(), targetOf(found, request), {
      key,
      headers,
      body,
    });
    const errors = (json["errors"] ?? []) as { field: string; code: string }[];
    const ofField = errors.filter((error) => /[^[.]*/.exec(error.field)?.[0] === field);
    const what = `${field}, ${given.what}: ${text.slice(0, 500)}`;
    if (given.isAllowed)
      expect(
        ofField.filter(({ code }) => OF_SIZE.includes(code)),
        what,
      ).to.deep.equal([]);
    else {
      expect(status, what).to.equal(400);
      expect(ofField, what).not.to.deep.equal([]);
    }
    count += 1;
  }

  function withParameter(request: ExampleRequest, { name, in: place }: Parameter, value: unknown): ExampleRequest {
    if (place === "path") return { ...request, path: { ...request.path, [name]: value } };
    if (place === "query") return { ...request, query: { ...request.query, [name]: value } };
    return { ...request, headers: { ...request.headers, [name]: String(value) } };
  }

  for (const found of OPERATIONS) {
    it(`of ${found.operation.operationId} are those of the server`, async () => {
      const request = exampleRequest(found);
      const inPath = parametersOf(found, "path");
      const inHeader = parametersOf(found, "header").filter(({ name }) => name === "Idempotency-Key");
      for (const parameter of [...inPath, ...parametersOf(found, "query"), ...inHeader]) {
        const field = parameter.in === "header" ? parameter.name.toLowerCase() : parameter.name;
        for (const given of casesOf(parameter.schema)) {
          await expectLimit(found, field, withParameter(request, parameter, given.value), given);
        }
      }
      const schema = found.operation.requestBody?.content["application/json"]?.schema;
      const properties = (schema === undefined ? {} : (resolved<Schema>(schema)["properties"] ?? {})) as Record<
        string,
        Schema
      >;
      for (const [name, property] of Object.entries(properties)) {
        for (const given of casesOf(property)) {
          await expectLimit(found, name, { ...request, body: { ...request.body, [name]: given.value } }, given);
        }
      }
    });
  }

  it("are many", () => {
    expect(count).to.be.greaterThan(150);
  });
});
