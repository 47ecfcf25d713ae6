import { createHmac } from "node:crypto";

import { expect } from "chai";
import fc from "fast-check";
import { typeidUnboxed } from "typeid-js";

import type { TransactionId } from "../../src/domain/values/ids.js";
import { callbackToken, readCallbackToken, transactionIdOf, uuidOf } from "../../src/rails/callback-token.js";

const SECRET = Buffer.from("the new secret of a test");
const OLD_SECRET = Buffer.from("the old secret of a test");
const PURPOSES = [
  "collect",
  "pay_out",
  "timeout",
  "status",
  "balance",
  "confirmation",
  "validation",
  "return",
] as const;

const anyTransactionId = (): TransactionId => typeidUnboxed("txn") as string as TransactionId;
const anySubject = fc.record({
  cell: fc.integer({ min: 0, max: 65_535 }),
  purpose: fc.constantFrom(...PURPOSES),
  uuid: fc.uuid(),
});

describe("the token of a callback", () => {
  it("gives back what it is about, with the secret that made it", () => {
    fc.assert(
      fc.property(anySubject, (subject) => {
        expect(readCallbackToken([SECRET], callbackToken(SECRET, subject))).to.deep.equal(subject);
      }),
    );
  });

  it("is hexadecimal, so it cannot spell a word that M-Pesa forbids in an address", () => {
    fc.assert(
      fc.property(anySubject, (subject) => {
        expect(callbackToken(SECRET, subject)).to.match(/^[0-9a-f]{72}$/);
      }),
    );
  });

  it("is read with either secret during a rotation, and with no other", () => {
    const subject = { cell: 3, purpose: "pay_out", uuid: uuidOf(anyTransactionId()) } as const;
    const token = callbackToken(OLD_SECRET, subject);
    expect(readCallbackToken([SECRET, OLD_SECRET], token)).to.deep.equal(subject);
    expect(readCallbackToken([OLD_SECRET, SECRET], token)).to.deep.equal(subject);
    expect(readCallbackToken([SECRET], token)).to.equal(undefined);
    expect(readCallbackToken([], token)).to.equal(undefined);
  });

  it("is refused if any one of its digits is another", () => {
    const token = callbackToken(SECRET, { cell: 0, purpose: "collect", uuid: uuidOf(anyTransactionId()) });
    for (let place = 0; place < token.length; place += 1) {
      const digit = ((Number.parseInt(token.charAt(place), 16) + 1) % 16).toString(16);
      const forged = `${token.slice(0, place)}${digit}${token.slice(place + 1)}`;
      expect(readCallbackToken([SECRET], forged), `another digit at ${String(place)}`).to.equal(undefined);
    }
  });

  it("is refused in any other form, whatever its length", () => {
    const token = callbackToken(SECRET, { cell: 0, purpose: "collect", uuid: uuidOf(anyTransactionId()) });
    for (const other of ["", token.toUpperCase(), `${token}00`, token.slice(2), ` ${token}`, `${token}\n`]) {
      expect(readCallbackToken([SECRET], other)).to.equal(undefined);
    }
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        expect(readCallbackToken([SECRET], text)).to.equal(undefined);
      }),
    );
  });

  it("is refused with a version or a purpose that nobody knows, even if the secret made it", () => {
    const made = (version: number, purpose: number): string => {
      const signed = Buffer.concat([Buffer.from([version, purpose]), Buffer.alloc(18)]);
      const mac = createHmac("sha256", SECRET).update("kesc-callback").update(signed).digest().subarray(0, 16);
      return Buffer.concat([signed, mac]).toString("hex");
    };
    expect(readCallbackToken([SECRET], made(1, PURPOSES.length - 1))).to.deep.include({ purpose: "return" });
    expect(readCallbackToken([SECRET], made(1, PURPOSES.length))).to.equal(undefined);
    expect(readCallbackToken([SECRET], made(2, 0))).to.equal(undefined);
  });

  it("throws for a cell that does not fit", () => {
    const make = (): string => callbackToken(SECRET, { cell: 65_536, purpose: "collect", uuid: "" });
    expect(make).to.throw(RangeError);
  });

  it("names a transaction by the UUID in its id", () => {
    const transactionId = anyTransactionId();
    expect(transactionIdOf(uuidOf(transactionId))).to.equal(transactionId);
  });

  it("stays as it is: tokens that were given out must be read by later versions", () => {
    const subject = { cell: 258, purpose: "status", uuid: "01932d53-1b2e-7c3a-8f00-0123456789ab" } as const;
    const token = callbackToken(SECRET, subject);
    expect(token.slice(0, 40)).to.equal("0103010201932d531b2e7c3a8f000123456789ab");
    expect(token.slice(40)).to.equal("d6330f67116f9e480360d4079217f7c7");
  });
});
