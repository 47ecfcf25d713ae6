import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import {
  addMasterKey,
  createMasterKeyFile,
  MasterKeyError,
  masterKeysIn,
  parseMasterKeys,
  readMasterKeys,
  removeMasterKeys,
} from "../../../src/storage/secrets/master-key.js";

const PERMISSIONS = 0o777;

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

describe("the master key file", () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "kesc-master-key-"));
    file = join(folder, "keys", "master.key");
    expect(createMasterKeyFile(file)).to.equal(true);
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const idsIn = (filename: string): string[] => readMasterKeys(filename).map(({ id }) => id);

  it("has one key, and only its owner may read it or enter its folder", () => {
    expect(idsIn(file)).to.have.length(1);
    expect(statSync(file).mode & PERMISSIONS).to.equal(0o600);
    expect(statSync(join(folder, "keys")).mode & PERMISSIONS).to.equal(0o700);
    expect(readdirSync(join(folder, "keys"))).to.deep.equal(["master.key"]);
  });

  for (const umask of [0o000, 0o022, 0o077]) {
    it(`is for its owner alone, whatever the umask: ${umask.toString(8).padStart(3, "0")}`, () => {
      const before = process.umask(umask);
      try {
        createMasterKeyFile(join(folder, "other", "master.key"));
      } finally {
        process.umask(before);
      }
      expect(statSync(join(folder, "other", "master.key")).mode & PERMISSIONS).to.equal(0o600);
      expect(statSync(join(folder, "other")).mode & PERMISSIONS).to.equal(0o700);
    });
  }

  it("has another random key each time", () => {
    createMasterKeyFile(join(folder, "other"));
    expect(idsIn(join(folder, "other"))).not.to.deep.equal(idsIn(file));
  });

  it("that is missing is told from one that cannot be read", () => {
    for (const [name, message, isMissing] of [
      [join(folder, "none"), "it does not exist", true],
      [folder, "it cannot be read (EISDIR)", false],
    ] as const) {
      expect(() => readMasterKeys(name))
        .to.throw(MasterKeyError, message)
        .with.property("isMissing", isMissing);
    }
  });

  it("is not created over an existing file", () => {
    const before = readFileSync(file, "utf8");
    expect(createMasterKeyFile(file)).to.equal(false);
    expect(readFileSync(file, "utf8")).to.equal(before);
    expect(readdirSync(join(folder, "keys"))).to.deep.equal(["master.key"]);
  });

  it("gets a new key in front of the others, and loses the named ones", () => {
    const [oldest] = idsIn(file);
    const [added] = addMasterKey(file).map(({ id }) => id);
    expect(idsIn(file)).to.deep.equal([added, oldest]);
    const [newest] = addMasterKey(file).map(({ id }) => id);
    removeMasterKeys(file, new Set([added ?? ""]));
    expect(idsIn(file)).to.deep.equal([newest, oldest]);
    expect(readdirSync(join(folder, "keys"))).to.deep.equal(["master.key"]);
  });

  it("keeps its mode when it changes", () => {
    chmodSync(file, 0o640);
    addMasterKey(file);
    expect(statSync(file).mode & PERMISSIONS).to.equal(0o640);
  });

  it("changes where a symbolic link leads", () => {
    const link = join(folder, "link");
    symlinkSync(file, link);
    addMasterKey(link);
    expect(idsIn(file)).to.have.length(2);
  });

  it("never loses its last key", () => {
    const before = readFileSync(file, "utf8");
    expect(() => removeMasterKeys(file, new Set(idsIn(file)))).to.throw(MasterKeyError, "it is empty");
    expect(readFileSync(file, "utf8")).to.equal(before);
  });

  it("stays as it is when a line is malformed, and when it cannot be written", () => {
    writeFileSync(file, "no key\n");
    expect(() => addMasterKey(file)).to.throw(MasterKeyError, "line 1 is not 32 bytes in base64url");
    expect(readFileSync(file, "utf8")).to.equal("no key\n");
    expect(() => addMasterKey(join(folder, "missing"))).to.throw(MasterKeyError, "it cannot be written (ENOENT)");
    expect(() => createMasterKeyFile(join(file, "below a file"))).to.throw(MasterKeyError, "it cannot be written");
  });

  it("is read again for an unknown key, and only then", () => {
    const keys = masterKeysIn(file);
    const [{ id: oldest }] = keys();
    const [{ id: added }] = addMasterKey(file);
    expect(keys(oldest)[0].id).to.equal(oldest);
    expect(keys(added)[0].id).to.equal(added);
    rmSync(file);
    expect(keys(oldest)[0].id).to.equal(added);
    expect(() => keys("another")).to.throw(MasterKeyError, "it does not exist");
  });
});
