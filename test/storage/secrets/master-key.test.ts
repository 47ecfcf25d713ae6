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
  readMasterKeys,
  removeMasterKeys,
} from "../../../src/storage/secrets/master-key.js";

const PERMISSIONS = 0o777;

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
