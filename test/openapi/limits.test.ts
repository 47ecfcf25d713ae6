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
  /** Whether it is about the characters of the value, not about its size. */
  readonly isOfForm?: boolean;
}

const SEQUENCE_MAX = Number.MAX_SAFE_INTEGER;
const OF_SIZE = ["TOO_LONG", "TOO_MANY", "OUT_OF_RANGE", "UNKNOWN_VALUE", "WRONG_TYPE", "REQUIRED"];

// Whether two members fit together is another question.
const OF_TWO = /^must be larger than/;

/** Values at each limit of the schema, and just beyond. */
function casesOf(schema: Schema): readonly Case[] {
  const { minLength, maxLength, minimum, maximum, maxProperties, maxItems, minItems } = schema as Record<
    string,
    number | undefined
  >;
  const words = [schema, ...((schema["anyOf"] ?? []) as Schema[])].flatMap((each) => (each["enum"] ?? []) as string[]);
  const item = (schema["items"] ?? {}) as Schema;
  const both = (what: string, within: unknown, beyond: unknown): Case[] => [
    { what: `${what}, within`, value: within, isAllowed: true },
    { what: `${what}, beyond`, value: beyond, isAllowed: false },
  ];
  const pairs = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${String(index)}`, "v"]));
  const keyMax = (schema["propertyNames"] as Schema | undefined)?.["maxLength"] as number | undefined;
  const valueMax = (schema["additionalProperties"] as Schema | undefined)?.["maxLength"] as number | undefined;
  const mint = { mint: { account_id: "acc_1", amount: "1.00", reference: "r" } };
  const isPair = item["pattern"] === "^[^=]+=";
  const items = (count: number): unknown[] =>
    isPair ? Object.keys(pairs(count)).map((key) => `${key}=v`) : Array<object>(count).fill(mint);
  return [
    ...(maxLength === undefined ? [] : both("the length", "x".repeat(maxLength), "x".repeat(maxLength + 1))),
    // Whether a book has so many rows is another question.
    ...(maximum === undefined ? [] : both("the maximum", maximum, maximum + 1).slice(maximum === SEQUENCE_MAX ? 1 : 0)),
    ...(minimum === undefined ? [] : both("the minimum", minimum, minimum - 1)),
    ...(maxProperties === undefined ? [] : both("the pairs", pairs(maxProperties), pairs(maxProperties + 1))),
    ...(keyMax === undefined ? [] : both("the key", { ["k".repeat(keyMax)]: "v" }, { ["k".repeat(keyMax + 1)]: "v" })),
    ...(valueMax === undefined ? [] : both("the value", { k: "v".repeat(valueMax) }, { k: "v".repeat(valueMax + 1) })),
    ...(maxItems === undefined ? [] : both("the items", items(maxItems), items(maxItems + 1))),
    ...(isPair ? both("a pair", ["k=v=w"], ["k"]) : []),
    ...(minItems === undefined ? [] : [{ what: "too few items", value: [], isAllowed: false }]),
    ...(minLength === undefined && maxLength === undefined
      ? []
      : [{ what: "the empty text", value: "", isAllowed: minLength === undefined }]),
    ...(item["minLength"] === undefined ? [] : [{ what: "an empty item", value: [""], isAllowed: false }]),
    ...words.map((word) => ({ what: word, value: word, isAllowed: true })),
    ...(words.length === 0 ? [] : [{ what: "another word", value: "melted", isAllowed: false }]),
    ...(words.includes("paused") ? [{ what: "disabled", value: "disabled", isAllowed: false }] : []),
    ...(isAmount(schema) ? AMOUNTS : []),
    ...formsOf(schema),
  ];
}

/** Texts of each pattern, and others. */
const FORMS: ReadonlyMap<string, readonly [within: readonly string[], beyond: readonly string[]]> = new Map([
  ["^[\\x21-\\x7e]*$", [["a-B_9"], ["a b", "é"]]],
  ["^[\\x21-\\x7e]+$", [["a-B_9"], ["a b"]]],
  ["^[^\\x00-\\x1f\\x7f]*$", [["é ~ß 9"], ["a\nb", "a\u0000", "a\u007f"]]],
  ["^[a-z0-9-]*$", [["kcb-1234"], ["KCB", "a b"]]],
  ["^[A-Za-z0-9-]*$", [["Kcb-1234"], ["a_b", "a b"]]],
  [
    "[a-z][a-z0-9_-]{0,31}",
    [
      ["direct", `a${"-".repeat(31)}`],
      ["Direct", "1st", `a${"-".repeat(32)}`],
    ],
  ],
  [
    "\\+?[0-9][0-9 ().-]{3,23}[0-9]",
    [
      ["0712 345-678", "+254712345678"],
      ["0712", "07123456x8", "0".repeat(26)],
    ],
  ],
]);

function formsOf(schema: Schema): readonly Case[] {
  const { pattern } = schema;
  if (typeof pattern !== "string" || isAmount(schema)) return [];
  const forms = FORMS.get(pattern) ?? FORMS.get(pattern.replace(/^\^\(?/, "").replace(/(?:\)\?)?\$$/, ""));
  if (forms === undefined) throw new Error(`no texts are known for the pattern ${pattern}`);
  return forms.flatMap((values, index) =>
    values.map((value) => ({ what: JSON.stringify(value), value, isAllowed: index === 0, isOfForm: true })),
  );
}

const AMOUNTS: readonly Case[] = [
  ...["0.01", "1000", "1000.5", "9999999999999.99"].map((value) => ({ what: value, value, isAllowed: true })),
  ...["0.00", "-1.00", "1.005", "01.00", "10000000000000.00", "1e3", "x"].map((value) => ({
    what: value,
    value,
    isAllowed: false,
  })),
];

/** The members of a request's body, of each of its forms. */
function membersOf({ operation }: FoundOperation): readonly Member[] {
  const schema = resolved<Schema>(operation.requestBody?.content["application/json"]?.schema ?? {});
  const forms = ((schema["oneOf"] as Schema[] | undefined) ?? [schema]).map((form) => resolved<Schema>(form));
  return forms.flatMap((form) =>
    Object.entries((form["properties"] ?? {}) as Record<string, Schema>).map(([name, member]) => ({
      name,
      schema: member,
      isChoice: forms.length > 1,
      isRequired: ((form["required"] ?? []) as string[]).includes(name),
    })),
  );
}

interface Member {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  /** Whether the request has several forms. */
  readonly isChoice: boolean;
}

/** Whether the schema of a member of a request allows null. */
function takesNull({ type, oneOf, anyOf }: Schema): boolean {
  const forms = [oneOf, anyOf].flatMap((each) => (each ?? []) as Schema[]);
  return [type].flat().includes("null") || forms.some((form) => form["type"] === "null");
}

function isAmount(schema: Schema): boolean {
  const text = ((schema["oneOf"] as Schema[] | undefined)?.[0] ?? schema)["pattern"];
  return typeof text === "string" && text.includes("{0,12}");
}

describe("the limits of the OpenAPI document", () => {
  let service: InProcess;
  let count = 0;
  let nullable = 0;
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
    const errors = (json["errors"] ?? []) as { field: string; code: string; message: string }[];
    const ofField = errors.filter((error) => /[^[.]*/.exec(error.field)?.[0] === field);
    const what = `${field}, ${given.what}: ${text.slice(0, 500)}`;
    if (given.isAllowed)
      expect(
        ofField.filter(
          ({ code, message }) => (given.isOfForm ? code === "FORMAT" : OF_SIZE.includes(code)) && !OF_TWO.test(message),
        ),
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
          // An empty part of a path makes it another path.
          if (parameter.in === "path" && given.value === "") continue;
          await expectLimit(found, field, withParameter(request, parameter, given.value), given);
        }
      }
      for (const { name, schema, isRequired, isChoice } of membersOf(found)) {
        expect(takesNull(schema) && isRequired, name).to.equal(false);
        // Of an either-or, null means that the request is of the other form.
        const ofNull = isChoice && isRequired ? [] : [{ what: "null", value: null, isAllowed: takesNull(schema) }];
        nullable += takesNull(schema) ? 1 : 0;
        for (const given of [...casesOf(schema), ...ofNull]) {
          await expectLimit(found, name, { ...request, body: { ...request.body, [name]: given.value } }, given);
        }
      }
    });
  }

  it("are many", () => {
    expect(count).to.be.greaterThan(250);
    expect(nullable).to.be.greaterThan(25);
  });
});
