import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import {
  createMasterKeyFile,
  MasterKeyError,
  masterKeysIn,
  parseMasterKeys,
  readMasterKeys,
} from "../../../src/storage/secrets/master-key.js";

const line = (fill: string): string => Buffer.alloc(32, fill).toString("base64url");

describe("the text of a master key file", () => {
  it("has one key on each line, in this order", () => {
    const keys = parseMasterKeys(`${line("a")}\n${line("b")}\n`);
    expect(keys.map(({ key }) => key.export().toString())).to.deep.equal(["a".repeat(32), "b".repeat(32)]);
  });

  it("may end without a line feed, and may have empty lines", () => {
    const keys = parseMasterKeys(`\n${line("a")}\n\n${line("b")}`);
    expect(keys).to.have.lengthOf(2);
  });

  it("gives each key an id that depends on the key alone, and does not show it", () => {
    const [[a], [again], [b]] = [parseMasterKeys(line("a")), parseMasterKeys(line("a")), parseMasterKeys(line("b"))];
    expect(a.id).to.match(/^[0-9a-f]{16}$/);
    expect(again.id).to.equal(a.id);
    expect(b.id).not.to.equal(a.id);
  });

  const secret = line("s");
  for (const [what, text, problem] of [
    ["nothing", "", "it is empty"],
    ["empty lines", "\n\n", "it is empty"],
    ["a line that is too short", `${secret}\n${secret.slice(1)}\n`, "line 2 is not 32 bytes in base64url"],
    ["a line that is too long", `${secret}A\n`, "line 1 is not 32 bytes in base64url"],
    ["base64 of the other alphabet", `${secret.slice(1)}+\n`, "line 1 is not 32 bytes in base64url"],
    ["a carriage return", `${secret}\r\n`, "line 1 is not 32 bytes in base64url"],
    ["a comment", `# old\n${secret}\n`, "line 1 is not 32 bytes in base64url"],
  ] as const) {
    it(`is refused when it has ${what}, and the message does not repeat it`, () => {
      expect(() => parseMasterKeys(text)).to.throw(MasterKeyError, new RegExp(`^${problem}$`));
    });
  }
});

describe("a master key file", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "kesc-master-key-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

  for (const umask of [0o000, 0o022, 0o077]) {
    it(`is made for its owner alone, with the umask ${umask.toString(8).padStart(3, "0")}`, () => {
      const filename = join(folder, "keys", "master.key");
      const before = process.umask(umask);
      try {
        createMasterKeyFile(filename);
      } finally {
        process.umask(before);
      }
      expect([modeOf(filename), modeOf(join(folder, "keys"))]).to.deep.equal(["600", "700"]);
      expect(readMasterKeys(filename)).to.have.lengthOf(1);
    });
  }

  it("has another random key each time", () => {
    for (const name of ["one", "two"]) createMasterKeyFile(join(folder, name));
    expect(readFileSync(join(folder, "one"), "utf8")).not.to.equal(readFileSync(join(folder, "two"), "utf8"));
  });

  it("is never overwritten", () => {
    const filename = join(folder, "master.key");
    writeFileSync(filename, line("a"));
    expect(() => {
      createMasterKeyFile(filename);
    }).to.throw(/EEXIST/);
    expect(readFileSync(filename, "utf8")).to.equal(line("a"));
  });

  it("that is missing is told from one that cannot be read", () => {
    mkdirSync(join(folder, "a-folder"));
    for (const [name, message, isMissing] of [
      ["none", "it does not exist", true],
      ["a-folder", "it cannot be read", false],
    ] as const) {
      expect(() => readMasterKeys(join(folder, name)))
        .to.throw(MasterKeyError, message)
        .with.property("isMissing", isMissing);
    }
  });

  it("is read at the first call, once it is there, and then never again", () => {
    const filename = join(folder, "master.key");
    const keys = masterKeysIn(filename);
    expect(keys).to.throw(MasterKeyError);
    writeFileSync(filename, line("a"));
    const [{ id }] = keys();
    rmSync(filename);
    expect(keys()[0].id).to.equal(id);
  });
});
