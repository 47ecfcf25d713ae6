import { expect } from "chai";

import { readContract } from "../../../src/grpc/messages/contract.js";
import { checkWireFormat } from "../../../src/grpc/messages/wire-format.js";

const { files } = readContract();

/** [3, "ab"] is field 3 with the text "ab". */
function text(fieldNumber: number, value: string): number[] {
  return [(fieldNumber << 3) | 2, value.length, ...Buffer.from(value)];
}

function isMessage(typeName: string, bytes: readonly number[]): boolean {
  try {
    checkWireFormat(files.getMessage(typeName), Uint8Array.from(bytes));
    return true;
  } catch {
    return false;
  }
}

describe("grpc: what is a protobuf message", () => {
  const MINT = "kesc.v1.MintRequest";
  const LIST = "kesc.v1.ListTransactionsRequest";
  const amount = text(2, "1.00");

  for (const [name, typeName, bytes, expected] of [
    ["nothing at all", MINT, [], true],
    ["fields", MINT, [...text(1, "acc"), ...amount], true],
    ["a field that it does not know", MINT, [...amount, ...text(99, "x")], true],
    ["a field of another type than it should have", MINT, [...amount, 0x18, 7], true],
    ["a group that it does not know", MINT, [...amount, 0x7b, ...text(1, "x"), 0x7c], true],
    ["a map", MINT, [42, 6, ...text(1, "a"), ...text(2, "b")], true],
    ["a time", LIST, [42, 2, 8, 1], true],
    ["the field number 0, with more behind it", MINT, [...amount, 0, ...text(3, "ref")], false],
    ["the field number 0 as the last byte", MINT, [...amount, 0], false],
    ["the end of a group that did not begin", MINT, [...amount, 4, ...text(3, "ref")], false],
    ["a group without an end", MINT, [...amount, 0x7b, ...text(1, "x")], false],
    ["groups within groups, without measure", MINT, Array<number>(1_000).fill(0x7b), false],
    ["a text longer than the message", MINT, [0x12, 9, 49], false],
    ["a number that does not end", LIST, [0x38, 0xff, 0xff], false],
    ["a field number of more than 32 bits", MINT, [0x92, 0x80, 0x80, 0x80, 0x10, 1, 49], false],
    ["a map entry that goes on behind its end", MINT, [42, 4, ...text(1, "a"), 18, ...amount], false],
    ["a time that goes on behind its end", LIST, [42, 2, 8, 0x80, 1], false],
    ["a map entry with the field number 0", MINT, [42, 5, ...text(1, "a"), 0, 0, ...amount], false],
  ] as const) {
    it(`${expected ? "takes" : "refuses"} ${name}`, () => {
      expect(isMessage(typeName, bytes)).to.equal(expected);
    });
  }
});
