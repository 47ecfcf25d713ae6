import { type DescField, type DescMessage, type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import fc from "fast-check";

import { TIMESTAMP } from "../../../../contract/json-support.js";
import { isDecimal } from "../../../support/callers/contract-requests.js";

// Values for the fields of a request, by the field's type in the contract. Where a random value of
// that type would never pass the first check, the field's name decides.

/** The ids in the database, for requests to name. */
export interface Known {
  readonly accountIds: readonly string[];
  readonly transactionIds: readonly string[];
}

/**
 * Amounts as people and programs write them, most of them small enough to add up for a long time.
 */
export const amountText = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.nat(9_999), fc.nat(99)).map(([whole, part]) => `${String(whole)}.${twoDigits(part)}`),
  },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 9_999 }).map(String) },
  { weight: 1, arbitrary: fc.constantFrom("0.01", "0.1", "9999999999999.99", "10000000000000.00", "0", "1.005") },
);

/** Numbers as JSON allows them, and as only other languages do. */
export const numberText = fc.oneof(
  amountText,
  fc.constantFrom("-0", "-0.0", "0e0", "1e2", "1E+2", "10e-1", "1e400", "1e-400", "-1", "1.0000000000000000001"),
  fc.constantFrom("9007199254740993", "18446744073709551616", `1${"0".repeat(400)}`, `0.${"9".repeat(400)}`),
  fc.constantFrom("NaN", "-Infinity", "Infinity", "0x10", "01", "+1", "1.", ".5", "1_000", "1n", "--1", "1e"),
);

/** Characters that programs get wrong. */
const oddCharacter = fc.constantFrom(
  ...Array.from("09.,-+eE_ '\"\\/%&?#;{}[]<>@\u0000\u0007\t\n\u00a0\u200b\u200d\u202e\ufeff\ufffd\u0660\uff11éß"),
  "😀",
  "e\u0301",
  "\u{e0041}",
);

/**
 * A text that differs in one place from a given one: the nearer it is, the more checks it passes.
 */
export function nearly(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .record({ text: texts, at: fc.double({ min: 0, max: 1, noNaN: true }), odd: oddCharacter, change: fc.nat(5) })
    .map(({ text, at, odd, change }) => {
      const characters = Array.from(text);
      const index = Math.floor(at * characters.length);
      const [head, tail] = [characters.slice(0, index).join(""), characters.slice(index).join("")];
      const dropped = characters.slice(index + 1).join("");
      return [head + odd + tail, head + odd + dropped, head + dropped, head, tail, text + text][change] ?? text;
    });
}

export const phoneText = fc.oneof(
  fc.nat(99_999_999).map((digits) => `07${String(digits).padStart(8, "0")}`),
  fc.constantFrom("+254712345678", "254712345678", "712345678", "0712 345 678", "(0712) 345-678", "+14155552671"),
  fc.constantFrom("+442083661177", "0112345678", "+8613800138000", "911", "+0", "00254712345678", "*100#"),
);

/** Most requests name no rail and no payer: any other one is refused on the direct rail. */
const railText = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom("", "direct") },
  { weight: 1, arbitrary: fc.constantFrom("mpesa", "sandbox", "Direct", "r".repeat(33), "a b") },
);
const payerText = fc.oneof({ weight: 20, arbitrary: fc.constant("") }, { weight: 1, arbitrary: phoneText });

export const emailText = fc.oneof(
  fc.emailAddress(),
  fc.constantFrom("a@b.co", "A.B+tag@EXAMPLE.com", `${"x".repeat(64)}@${"y".repeat(63)}.example.com`, "a@b", "@b.co"),
);

export const nameText = fc.oneof(
  { weight: 8, arbitrary: fc.uuid() },
  { weight: 2, arbitrary: fc.string({ minLength: 1, maxLength: 40, unit: "grapheme" }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 140, unit: "binary" }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("constructor", "__proto__", "'; DROP TABLE accounts; --", "%s%n", "../../etc/passwd"),
  },
);

const idText = (known: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...known) },
    { weight: 1, arbitrary: nearly(fc.constantFrom(...known)) },
    { weight: 1, arbitrary: fc.constantFrom("acc_01jd2r6p5vf8ksw3xhb1z7q4ye", "txn_01jd2r6p5vf8ksw3xhb1z7q4ye", "") },
  );

const timeText = fc.oneof(
  fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "2024-02-29T23:59:59+03:00"),
);

const pairs = fc.oneof(
  { weight: 6, arbitrary: fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), fc.uuid(), { maxKeys: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(fc.string({ maxLength: 41 }), nameText, { maxKeys: 21 }) },
);

/** A message with most of its fields set, and of each oneof one. */
export function messageValueOf(desc: DescMessage, known: Known): fc.Arbitrary<JsonObject> {
  const plain = desc.fields
    .filter(({ oneof }) => oneof === undefined)
    .map((field) => fc.option(entryOf(field, known), { freq: 15 }));
  const chosen = desc.oneofs.map(({ fields }) =>
    fc.option(fc.oneof(...fields.map((field) => entryOf(field, known))), { freq: 15 }),
  );
  return fc.tuple(...plain, ...chosen).map((set) => Object.fromEntries(set.filter((each) => each !== null)));
}

function entryOf(field: DescField, known: Known): fc.Arbitrary<readonly [string, JsonValue]> {
  return valueOf(field, known).map((value) => [field.name, value] as const);
}

/** Good values of a field, as protobuf's JSON writes them, with enum values by number. */
export function valueOf(field: DescField, known: Known): fc.Arbitrary<JsonValue> {
  if (field.fieldKind === "list" && field.listKind === "message") {
    // Protobuf's JSON of an Any needs a type that somebody knows.
    if (field.message.typeName === "google.protobuf.Any") return fc.constant([]);
    return fc.array(messageValueOf(field.message, known), { maxLength: 4 });
  }
  if (field.fieldKind === "map") return pairs;
  if (field.enum !== undefined) {
    const numbers = fc.constantFrom(...field.enum.values.map(({ number }) => number));
    return field.fieldKind === "list" ? fc.array(numbers, { maxLength: 4 }) : numbers;
  }
  if (field.fieldKind === "message") {
    return field.message.typeName === TIMESTAMP ? timeText : messageValueOf(field.message, known);
  }
  if (field.scalar === ScalarType.BOOL) return fc.boolean();
  if (field.scalar === ScalarType.BYTES) return fc.base64String({ maxLength: 400 });
  if (field.scalar !== ScalarType.STRING) return fc.oneof(fc.nat(1_000), fc.integer());
  if (field.fieldKind === "list") return fc.array(nameText, { maxLength: 4 });
  if (isDecimal(field)) return amountText;
  if (field.name === "account_id") return idText(known.accountIds);
  if (field.name === "transaction_id") return idText(known.transactionIds);
  if (field.name === "phone_number") return phoneText;
  if (field.name === "rail") return railText;
  if (field.name === "payer_phone_number") return payerText;
  if (field.name === "email") return emailText;
  if (field.name === "page_token") return fc.constant("");
  return nameText;
}

/**
 * Reads an amount as cents; undefined where it is none. The rules are written again on purpose: the
 * parser must not judge itself.
 */
export function centsOf(text: string): bigint | undefined {
  const [whole = "", fraction = "", ...more] = text.split(".");
  const digits = (part: string): boolean =>
    part !== "" && Array.from(part).every((each) => "0123456789".includes(each));
  const plain = digits(whole) && (whole === "0" || !whole.startsWith("0")) && whole.length <= 13;
  const fractional = !text.includes(".") || (digits(fraction) && fraction.length <= 2);
  if (!plain || !fractional || more.length > 0) return undefined;
  const cents = BigInt(whole) * 100n + BigInt(fraction.padEnd(2, "0"));
  return cents > 0n ? cents : undefined;
}

function twoDigits(count: number): string {
  return String(count).padStart(2, "0");
}
