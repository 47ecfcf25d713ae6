import { toJson } from "@bufbuild/protobuf";
import { expect } from "chai";

import { messageOf, readContract } from "../../../contract/contract.js";
import { type Json, parseJson } from "../../../contract/json/parse-json.js";
import { MessageReader } from "../../../contract/json/read-message.js";
import { toysContract } from "../../support/gateway/toys-contract.js";

const contract = readContract(toysContract());
const toy = messageOf(contract.registry, "toys.v1.Toy");

describe("a request's JSON", () => {
  for (const [text, message] of [
    ["{}", {}],
    ['{"name": "bear", "box": "", "price": null, "tags": null, "counts": null, "inner": null}', { name: "bear" }],
    ['{"price": 1000.00}', { price: "1000" }],
    ['{"price": 0.1}', { price: "0.1" }],
    ['{"price": 9999999999999.99}', { price: "9999999999999.99" }],
    ['{"price": 123456789012345678901234567890.10}', { price: "123456789012345678901234567890.1" }],
    ['{"price": 1e3}', { price: "1000" }],
    ['{"price": 1.0E7}', { price: "10000000" }],
    ['{"price": 1E+3}', { price: "1000" }],
    ['{"price": 1000.000}', { price: "1000" }],
    ['{"price": 0.010}', { price: "0.01" }],
    ['{"price": 1.234567e2}', { price: "123.4567" }],
    ['{"price": 105e-1}', { price: "10.5" }],
    ['{"price": 105e-4}', { price: "0.0105" }],
    ['{"price": 0.001}', { price: "0.001" }],
    ['{"price": -1.50}', { price: "-1.5" }],
    ['{"price": -0}', { price: "0" }],
    ['{"price": 0e999999999}', { price: "0" }],
    ['{"price": "1e3"}', { price: "1e3" }],
    ['{"price": "12.50"}', { price: "12.50" }],
    ['{"price": "any text, for the server to refuse"}', { price: "any text, for the server to refuse" }],
    ['{"parts": 2147483647}', { parts: 2147483647 }],
    ['{"parts": -2147483648}', { parts: -2147483648 }],
    ['{"parts": 7.0}', { parts: 7 }],
    ['{"serial": 9223372036854775807}', { serial: "9223372036854775807" }],
    ['{"serial": "-9223372036854775808"}', { serial: "-9223372036854775808" }],
    ['{"parts": 1e2, "position": 1.0E7}', { parts: 100, position: "10000000" }],
    ['{"position": 0}', {}],
    ['{"position": 9007199254740991}', { position: "9007199254740991" }],
    ['{"huge": 18446744073709551615}', { huge: "18446744073709551615" }],
    ['{"weight": 1.5e2, "ratio": 0.5}', { weight: 150, ratio: 0.5 }],
    ['{"is_loud": true}', { isLoud: true }],
    ['{"picture": "AQID"}', { picture: "AQID" }],
    ['{"color": "deep_blue"}', { color: "COLOR_DEEP_BLUE" }],
    ['{"built_at": "2026-01-31T12:00:00.250Z"}', { builtAt: "2026-01-31T12:00:00.250Z" }],
    ['{"inner": {"inner": {"name": "small"}}}', { inner: { inner: { name: "small" } } }],
    ['{"tags": ["a", "b"], "siblings": [{"name": "c"}, {}]}', { tags: ["a", "b"], siblings: [{ name: "c" }, {}] }],
    ['{"counts": {"a": 1, "constructor": 2}}', { counts: { a: 1, constructor: 2 } }],
    ['{"shelves": {"-3": "low"}}', { shelves: { "-3": "low" } }],
    ['{"nickname": ""}', { nickname: "" }],
    ['{"by_size": "", "by_age": null}', { bySize: "" }],
    ['{"name": "😀 \\ud83d\\ude00"}', { name: "😀 😀" }],
  ] as const) {
    it(`reads ${text}`, () => {
      expect(read(text)).to.deep.equal({ message, problems: [] });
    });
  }

  it("keeps a map's key that is called __proto__", () => {
    const { message } = read('{"counts": {"__proto__": 7}}');
    expect(JSON.stringify(message)).to.equal('{"counts":{"__proto__":7}}');
  });

  const WHOLE = "must be a whole number";
  const INT32 = "must be a whole number from -2147483648 to 2147483647";
  const SAFE = "must be a whole number from -9007199254740991 to 9007199254740991";
  const HALF = "must be valid Unicode: it contains half of a surrogate pair";
  for (const [text, field, problem, code] of [
    ['{"colour": "red"}', "colour", "is not a field of this request (did you mean color?)", "UNKNOWN_FIELD"],
    ['{"colour": null}', "colour", "is not a field of this request (did you mean color?)", "UNKNOWN_FIELD"],
    [
      '{"builtAt": "2026-01-31T12:00:00Z"}',
      "builtAt",
      "is not a field of this request (did you mean built_at?)",
      "UNKNOWN_FIELD",
    ],
    ['{"Name": "x"}', "Name", "is not a field of this request (did you mean name?)", "UNKNOWN_FIELD"],
    ['{"__proto__": {"name": "x"}}', "__proto__", "is not a field of this request", "UNKNOWN_FIELD"],
    ['{"constructor": "x"}', "constructor", "is not a field of this request", "UNKNOWN_FIELD"],
    ['{"paint": "x"}', "paint", "is not a field of this request", "UNKNOWN_FIELD"],
    ['{"": "x"}', '""', "is not a field of this request", "UNKNOWN_FIELD"],
    ['{"inner": {"": 1}}', 'inner.""', "is not a field of this request", "UNKNOWN_FIELD"],
    ['{"inner": {"doll": 1}}', "inner.doll", "is not a field of this request", "UNKNOWN_FIELD"],
    ['{"name": 7}', "name", "must be a string", "WRONG_TYPE"],
    ['{"name": true}', "name", "must be a string", "WRONG_TYPE"],
    ['{"name": ["x"]}', "name", "must be a string", "WRONG_TYPE"],
    ['{"name": {"value": "x"}}', "name", "must be a string", "WRONG_TYPE"],
    ['{"name": "half \\ud83d"}', "name", HALF, "FORMAT"],
    ['{"name": "\\ude00 half"}', "name", HALF, "FORMAT"],
    ['{"price": true}', "price", "must be a number, or a string that contains one", "WRONG_TYPE"],
    ['{"price": {}}', "price", "must be a number, or a string that contains one", "WRONG_TYPE"],
    ['{"price": "\\ud800"}', "price", HALF, "FORMAT"],
    ['{"parts": "7"}', "parts", WHOLE, "WRONG_TYPE"],
    ['{"parts": 7.5}', "parts", WHOLE, "FORMAT"],
    ['{"parts": 1e-2}', "parts", WHOLE, "FORMAT"],
    ['{"price": 1e999999999}', "price", "must have at most 64 digits", "OUT_OF_RANGE"],
    ['{"price": 1e-999999999}', "price", "must have at most 64 digits", "OUT_OF_RANGE"],
    [`{"price": 1${"0".repeat(64)}}`, "price", "must have at most 64 digits", "OUT_OF_RANGE"],
    ['{"parts": 2147483648}', "parts", INT32, "OUT_OF_RANGE"],
    ['{"parts": -2147483649}', "parts", INT32, "OUT_OF_RANGE"],
    ['{"parts": 1.00000000000000000000000000000000001}', "parts", WHOLE, "FORMAT"],
    ['{"by_age": -1}', "by_age", "must be a whole number from 0 to 4294967295", "OUT_OF_RANGE"],
    [
      '{"serial": 9223372036854775808}',
      "serial",
      "must be a whole number from -9223372036854775808 to 9223372036854775807",
      "OUT_OF_RANGE",
    ],
    ['{"position": "7"}', "position", WHOLE, "WRONG_TYPE"],
    ['{"position": -9007199254740992}', "position", SAFE, "OUT_OF_RANGE"],
    ['{"position": 9007199254740992}', "position", SAFE, "OUT_OF_RANGE"],
    ['{"position": 1e99}', "position", WHOLE, "FORMAT"],
    ['{"huge": "x"}', "huge", WHOLE, "WRONG_TYPE"],
    ['{"weight": "1.5"}', "weight", "must be a number", "WRONG_TYPE"],
    ['{"weight": 1e999}', "weight", "must be a number", "OUT_OF_RANGE"],
    ['{"ratio": 1e39}', "ratio", "must be a number", "OUT_OF_RANGE"],
    ['{"is_loud": "true"}', "is_loud", "must be true or false", "WRONG_TYPE"],
    ['{"is_loud": 1}', "is_loud", "must be true or false", "WRONG_TYPE"],
    ['{"picture": "?"}', "picture", "must be a string in base64", "FORMAT"],
    ['{"color": "green"}', "color", "must be one of red, deep_blue", "UNKNOWN_VALUE"],
    ['{"color": "COLOR_RED"}', "color", "must be one of red, deep_blue", "UNKNOWN_VALUE"],
    ['{"color": "Red"}', "color", "must be one of red, deep_blue", "UNKNOWN_VALUE"],
    ['{"color": "unspecified"}', "color", "must be one of red, deep_blue", "UNKNOWN_VALUE"],
    ['{"color": ""}', "color", "must be one of red, deep_blue", "UNKNOWN_VALUE"],
    ['{"color": 1}', "color", "must be one of red, deep_blue", "WRONG_TYPE"],
    ['{"built_at": "yesterday"}', "built_at", "must be an RFC 3339 time such as 2026-01-31T12:00:00Z", "FORMAT"],
    ['{"built_at": 1767225600}', "built_at", "must be an RFC 3339 time such as 2026-01-31T12:00:00Z", "WRONG_TYPE"],
    ['{"built_at": {"seconds": 1}}', "built_at", "must be an RFC 3339 time such as 2026-01-31T12:00:00Z", "WRONG_TYPE"],
    ['{"inner": "x"}', "inner", "must be an object", "WRONG_TYPE"],
    ['{"inner": []}', "inner", "must be an object", "WRONG_TYPE"],
    ['{"tags": "a"}', "tags", "must be an array", "WRONG_TYPE"],
    ['{"tags": {"0": "a"}}', "tags", "must be an array", "WRONG_TYPE"],
    ['{"tags": ["a", 7]}', "tags[1]", "must be a string", "WRONG_TYPE"],
    ['{"tags": [null]}', "tags[0]", "must be a string", "WRONG_TYPE"],
    ['{"siblings": [{"name": 7}]}', "siblings[0].name", "must be a string", "WRONG_TYPE"],
    ['{"counts": []}', "counts", "must be an object", "WRONG_TYPE"],
    ['{"counts": {"a": "7"}}', "counts.a", WHOLE, "WRONG_TYPE"],
    ['{"counts": {"a": null}}', "counts.a", WHOLE, "WRONG_TYPE"],
    ['{"counts": {"\\ud800": 7}}', "counts.\ud800", `has a key that ${HALF}`, "FORMAT"],
    ['{"shelves": {"top": "x"}}', "shelves.top", `has a key that ${WHOLE}`, "WRONG_TYPE"],
    ['{"by_age": 7, "by_size": "x"}', "by_size", "must not be sent together with by_age", "CONFLICT"],
  ] as const) {
    it(`refuses ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`, () => {
      expect(read(text).problems).to.deep.equal([{ field, code, message: problem }]);
    });
  }

  it("compares the first ten unknown names with the known ones, and no long name", () => {
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`name${String(index)}`, 1]));
    const advised = read(JSON.stringify({ ["name".padEnd(41, "e")]: 1, ...many })).problems.map(({ message }) =>
      message.endsWith("(did you mean name?)"),
    );
    expect(advised).to.deep.equal([false, ...Array<boolean>(9).fill(true), false, false, false]);
  });

  it("reports all problems at once, in the order of the body, and keeps the other fields", () => {
    const { message, problems } = read('{"doll": 1, "name": "bear", "parts": "7", "inner": {"color": "x"}}');
    expect(problems.map(({ field }) => field)).to.deep.equal(["doll", "parts", "inner.color"]);
    expect(message).to.deep.equal({ name: "bear", inner: {} });
  });

  it("of a PATCH removes a text with null, and refuses null of what cannot be removed", () => {
    const reader = new MessageReader(toy, contract);
    const problem = { code: "WRONG_TYPE", message: "must not be null" };
    reader.readObject(json('{"nickname": null, "tags": null, "name": null, "color": null}'), {
      elsewhere: new Map(),
      nullRemoves: true,
    });
    expect(toJson(toy, reader.message)).to.deep.equal({ nickname: "" });
    expect(reader.problems).to.deep.equal(["tags", "name", "color"].map((field) => ({ field, ...problem })));
  });

  it("of a PATCH refuses a list without items: on the wire it is an absent one", () => {
    const reader = new MessageReader(toy, contract);
    reader.readObject(json('{"tags": []}'), { elsewhere: new Map(), nullRemoves: true });
    expect(reader.problems.map(({ field, code }) => [field, code])).to.deep.equal([["tags", "REQUIRED"]]);
  });

  it("shortens a very long name in a problem", () => {
    expect(read(`{"${"x".repeat(5000)}": 1}`).problems[0]?.field).to.equal(`${"x".repeat(100)}…`);
  });
});

function json(text: string): Json {
  const result = parseJson(text);
  if (!result.ok) throw new Error(`the test's own JSON ${result.problem}`);
  return result.value;
}

function read(text: string) {
  const reader = new MessageReader(toy, contract);
  reader.readObject(json(text));
  return { message: toJson(toy, reader.message), problems: reader.problems };
}
