import { expect } from "chai";
import fc from "fast-check";

import { isJsonObject, type Json, JsonNumber, parseJson } from "../../../contract/json/parse-json.js";

const own = (json: Json): Json => {
  if (json instanceof JsonNumber) return `#${json.text}`;
  if (Array.isArray(json)) return (json as Json[]).map(own);
  return isJsonObject(json) ? Object.fromEntries(Object.entries(json).map(([name, item]) => [name, own(item)])) : json;
};

describe("JSON text", () => {
  for (const digits of ["0", "-0", "0.1", "1000.00", "9999999999999.99", "1e3", "1E-2", "9007199254740993", "-12.50"]) {
    it(`keeps the digits of ${digits}`, () => {
      const result = parseJson(`{"amount": ${digits}}`);
      expect(result.ok && own(result.value)).to.deep.equal({ amount: `#${digits}` });
    });
  }

  it("keeps every kind of value", () => {
    const result = parseJson(' {"a": [null, true, false, "x\\u00e9\\n", {}], "b": {"c": 7}} ');
    expect(result.ok && own(result.value)).to.deep.equal({ a: [null, true, false, "xé\n", {}], b: { c: "#7" } });
  });

  it("takes a string of a million escapes, and still finds a key twice behind it", () => {
    for (const character of ['"', "\\", "\n"]) {
      const text = JSON.stringify({ text: character.repeat(1_000_000), a: 1 });
      expect(parseJson(text).ok, JSON.stringify(character)).to.equal(true);
      expect(parseJson(`${text.slice(0, -1)},"a":1}`).ok).to.equal(false);
    }
  });

  it("treats __proto__ and constructor as ordinary keys", () => {
    const result = parseJson('{"__proto__": {"admin": true}, "constructor": 1}');
    expect(result.ok && isJsonObject(result.value) && Object.keys(result.value)).to.deep.equal([
      "__proto__",
      "constructor",
    ]);
    expect(({} as { admin?: boolean }).admin).to.equal(undefined);
  });

  for (const [name, text, key] of [
    ["with other values", '{"a": 1, "a": 2}', "a"],
    ["with the same string", '{"a": "x", "a": "x"}', "a"],
    ["with the same number", '{"a": 1, "b": 3, "a": 1}', "a"],
    ["with null", '{"a": null, "a": null}', "a"],
    ["written with an escape", '{"a": 1, "\\u0061": 1}', "a"],
    ["deep inside", '{"x": [{"y": {"k": 1, "k": 1}}]}', "k"],
    ["called __proto__", '{"__proto__": 1, "__proto__": 1}', "__proto__"],
    ["after a nested object of its own", '{"a": {"a": 1}, "b": [{}], "a": 1}', "a"],
    ["with quotes, braces and colons in the values", '{"a": "}\\":{", "b": "{[", "a": ""}', "a"],
  ] as const) {
    it(`refuses a repeated key ${name}`, () => {
      expect(parseJson(text)).to.deep.include({ ok: false, problem: `has the key "${key}" twice` });
    });
  }

  it("accepts the same key in several objects", () => {
    expect(parseJson('[{"a": {"a": "a"}}, {"a": ["a", "a"]}]').ok).to.equal(true);
  });

  for (const text of [
    "",
    " ",
    "{",
    '{"a":}',
    "{a: 1}",
    "01",
    "1.",
    ".5",
    "+1",
    "NaN",
    '"\\x"',
    '"\t"',
    "{} {}",
    "[1,]",
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(parseJson(text))
        .to.have.property("problem")
        .that.matches(/^is not JSON: /);
    });
  }

  it("refuses brackets that are nested too deeply, and does not crash", () => {
    const depth = 100_000;
    expect(parseJson("[".repeat(depth) + "]".repeat(depth))).to.deep.include({
      ok: false,
      problem: "is nested too deeply",
    });
  });
});

describe("any JSON text", () => {
  it("is parsed as JSON.parse parses it", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const result = parseJson(text);
        expect(result.ok && plain(result.value)).to.deep.equal(JSON.parse(text));
      }),
    );
  });

  it("is refused where JSON.parse refuses it", () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.string({ maxLength: 2 }), (text, at, change) => {
        const index = at % (text.length + 1);
        const changed = text.slice(0, index) + change + text.slice(index + 1);
        const result = parseJson(changed);
        // parseJson refuses a repeated key, which JSON.parse accepts.
        expect(result.ok || result.problem.endsWith("twice")).to.equal(isJson(changed));
      }),
    );
  });
});

function plain(json: Json): unknown {
  if (json instanceof JsonNumber) return Number(json.text);
  if (Array.isArray(json)) return (json as Json[]).map(plain);
  if (!isJsonObject(json)) return json;
  return Object.fromEntries(Object.entries(json).map(([name, item]) => [name, plain(item)]));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
