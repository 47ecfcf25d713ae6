import { createCipheriv } from "node:crypto";

import { expect } from "chai";

import {
  type BookKeys,
  newBookKeys,
  newPersonSalt,
  RowSalts,
  unwrapBookKeys,
  WrongMasterKeyError,
} from "../../../src/storage/secrets/book-keys.js";
import { parseMasterKeys } from "../../../src/storage/secrets/master-key.js";
import { ORGANIZATION, STRANGER } from "../../support/names.js";

const masterKeys = (...fills: readonly string[]): ReturnType<typeof parseMasterKeys> =>
  parseMasterKeys(fills.map((fill) => Buffer.alloc(32, fill).toString("base64url")).join("\n"));

const exported = ({ data, index, seal }: BookKeys): string[] =>
  [data, index, seal].map((key) => key.export().toString("hex"));

describe("the keys of a book", () => {
  const [keys, row] = newBookKeys(masterKeys("new", "old"), ORGANIZATION);

  it("are three that differ, encrypted by the first master key", () => {
    expect(new Set(exported(keys)).size).to.equal(3);
    expect(row.master_key_id).to.equal(masterKeys("new")[0].id);
    for (const secret of exported(keys)) expect(JSON.stringify(row)).not.to.contain(secret);
  });

  it("are decrypted with that master key, wherever it stands in the file", () => {
    for (const file of [masterKeys("new"), masterKeys("other", "new")]) {
      expect(exported(unwrapBookKeys(file, ORGANIZATION, row))).to.deep.equal(exported(keys));
    }
  });

  it("are others for each book", () => {
    const [others] = newBookKeys(masterKeys("new"), ORGANIZATION);
    expect(new Set([...exported(keys), ...exported(others)]).size).to.equal(6);
  });

  it("are not decrypted without it, and the error names its id", () => {
    expect(() => unwrapBookKeys(masterKeys("other", "old"), ORGANIZATION, row)).to.throw(
      WrongMasterKeyError,
      `need the master key ${row.master_key_id}, which the master key file lacks`,
    );
  });

  it("are not decrypted by another key that stands under its id", () => {
    const [{ key }] = masterKeys("other");
    expect(() => unwrapBookKeys([{ id: row.master_key_id, key }], ORGANIZATION, row)).to.throw(
      WrongMasterKeyError,
      `the data key of ${ORGANIZATION} was changed`,
    );
  });

  it("belong to one organization", () => {
    expect(() => unwrapBookKeys(masterKeys("new"), STRANGER, row)).to.throw(WrongMasterKeyError, STRANGER);
  });

  for (const [what, changed, name] of [
    ["the data key", { ...row, data_key: row.index_key }, "data"],
    ["the index key", { ...row, index_key: row.seal_secret }, "index"],
    ["the seal secret", { ...row, seal_secret: row.data_key }, "seal"],
  ] as const) {
    it(`cannot take each other's place: ${what}`, () => {
      expect(() => unwrapBookKeys(masterKeys("new"), ORGANIZATION, changed)).to.throw(
        WrongMasterKeyError,
        `the ${name} key of ${ORGANIZATION} was changed`,
      );
    });
  }
});

describe("the salts of a book's rows", () => {
  const [keys] = newBookKeys(masterKeys("a"), ORGANIZATION);

  /** Block n of the key stream of AES-256-CTR, one at a time. */
  function blockOf(seq: number): string {
    const counter = Buffer.alloc(16);
    counter.writeBigUInt64BE(BigInt(seq), 8);
    return createCipheriv("aes-256-ctr", keys.seal, counter).update(Buffer.alloc(16)).toString("hex");
  }

  it("are the same in whatever order they are asked for", () => {
    const salts = new RowSalts(keys);
    for (const seq of [1, 127, 128, 129, 1, 255, 256, 1_000_000, 2, Number.MAX_SAFE_INTEGER]) {
      expect(salts.of(seq), String(seq)).to.equal(blockOf(seq));
    }
  });

  it("all differ", () => {
    const salts = new RowSalts(keys);
    const all = new Set(Array.from({ length: 1_000 }, (_, index) => salts.of(index + 1)));
    expect(all.size).to.equal(1_000);
  });

  it("come from the seal secret alone", () => {
    const [others] = newBookKeys(masterKeys("a"), ORGANIZATION);
    expect(new RowSalts({ seal: keys.seal }).of(1)).to.equal(new RowSalts(keys).of(1));
    expect(new RowSalts(others).of(1)).not.to.equal(new RowSalts(keys).of(1));
  });
});

describe("the salt of a person", () => {
  it("is 16 random bytes in hexadecimal", () => {
    expect(newPersonSalt()).to.match(/^[0-9a-f]{32}$/);
    expect(newPersonSalt()).not.to.equal(newPersonSalt());
  });
});
