import { generateKeyPairSync, type KeyObject } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import { evidenceOf, exportedKeys } from "../../../src/cli/move/seal-evidence.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { publicLineOf, readSealKeys } from "../../../src/seals/key-file.js";
import { isSignedBy, parseSignedNote, publicBytesOf, verifierKeyOf } from "../../../src/seals/note.js";
import type { SealableBook } from "../../../src/seals/ports.js";
import { SealMemoryFile } from "../../../src/seals/seal-memory.js";
import { openCurrentDatabase } from "../../../src/startup/open-database.js";
import type { Database, DatabaseAddress } from "../../../src/storage/database.js";
import { sealStore } from "../../../src/storage/seals/seal-store.js";
import { givenSealer } from "../../support/seals/given-seals.js";
import { unguardedly } from "../../support/seals/unguarded-rows.js";
import { newWitness, type TestWitness } from "../../support/seals/witness.js";
import { type Ended, kesc, kescJson, Place } from "../../support/service/kesc.js";

const PERMISSIONS = 0o777;

describe("kesc seal", () => {
  let place: Place;
  let keyFile = "";
  let organization = "";
  /** The checkpoint that was published first. */
  let earlier = "";
  const variables = (): Record<string, string> => ({ ...place.variables, KESC_SEAL_KEY_FILE: keyFile });
  const seal = (...args: string[]): Promise<Ended> => kesc(["seal", ...args], variables());
  const folder = (name = "published"): string => join(place.folder, name);
  const checkpoint = (): string => readFileSync(join(folder(), organization, "checkpoint"), "utf8");

  const address = (): DatabaseAddress => ({
    engine: "sqlite",
    filename: place.databaseFile,
    masterKeyFile: place.masterKeyFile,
  });

  async function withDatabase(work: (database: Database) => Promise<void>): Promise<void> {
    const database = await openCurrentDatabase(address());
    await work(database).finally(() => database.close());
  }

  const sealAll = (): Promise<void> =>
    withDatabase(async ({ cells: [cell] }) => {
      await givenSealer(cell, { privateKey: () => readSealKeys(keyFile).privateKey }).sealer.sealAll();
    });
  const state = async (): Promise<Record<string, unknown>> => {
    const [only] = await kescJson<readonly Record<string, unknown>[]>(["seal", "list"], variables());
    return only ?? {};
  };
  const grow = (name: string): Promise<unknown> =>
    kescJson(["key", "create", "--org", organization, "--name", name, "--all-scopes", "--never-expires"], variables());

  before(async () => {
    place = await Place.migrated();
    keyFile = join(place.folder, "seal.key");
    const made = await kescJson<{ id: string }>(["org", "create", "--name", "acme"], place.variables);
    organization = made.id;
  });
  after(() => {
    place.remove();
  });

  it("makes the first key, and then new ones; the earlier public keys stay", async () => {
    expect((await seal("publish", folder())).stderr).to.match(/seal\.key cannot be used: it does not exist/);
    expect((await seal("rotate")).stdout).to.match(/^Created the seal key file/);
    expect(statSync(keyFile).mode & PERMISSIONS).to.equal(0o600);
    const [first] = readSealKeys(keyFile).publicKeys;
    await sealAll();
    expect((await seal("rotate")).stdout).to.match(/^Put a new key into/);
    expect(statSync(keyFile).mode & PERMISSIONS).to.equal(0o600);
    expect(readSealKeys(keyFile).publicKeys).to.have.lengthOf(2);
    expect(readSealKeys(keyFile).publicKeys[1]).to.deep.equal(first);
    expect(await kesc(["verify"], variables())).to.include({ code: 0 });
  });

  it("lists how far each book is sealed", async () => {
    expect(await state()).to.include({ organization_id: organization, size: "1", alarm: null });
    expect((await seal("list")).stdout).to.match(new RegExp(`^ORGANIZATION.*\n${organization}  1 +\\d{4}-`));
  });

  it("publishes what is new, as files in the layout of tlog-tiles, and verify compares with them", async () => {
    expect((await seal("publish", folder())).stdout).to.match(/published up to row 1, 1 new/);
    earlier = checkpoint();
    for (let count = 0; count < 3; count++) await grow(`key-${String(count)}`);
    await sealAll();
    expect((await seal("publish", folder())).stdout).to.match(/published up to row 4, 3 new/);
    expect(readdirSync(join(folder(), organization)).sort()).to.deep.equal(["checkpoint", "keys", "tile"]);
    expect(readdirSync(join(folder(), organization, "tile/0/000.p"))).to.deep.equal(["4"]);
    const note = parseSignedNote(checkpoint());
    expect(note !== undefined && isSignedBy(note, readSealKeys(keyFile).publicKeys)).to.equal(true);
    const { stdout, code } = await kesc(["verify", "--published", folder()], variables());
    expect(stdout).to.match(/1 of 1 books compared with a published copy/);
    expect(code).to.equal(0);
  });

  it("publishes what known witnesses have cosigned, and verify counts them", async () => {
    const [known, slow, other] = ["w1", "w2", "w3"].map((name) => newWitness(`witness.example.com/${name}`)) as [
      TestWitness,
      TestWitness,
      TestWitness,
    ];
    const file = join(place.folder, "witnesses");
    writeFileSync(file, `${known.key}\n${slow.key}\n`);
    const publish = (): Promise<Ended> => seal("publish", folder(), "--witnesses", file);
    const check = (...args: string[]): Promise<Ended> =>
      kesc(["verify", "--published", folder(), "--witnesses", file, ...args], variables());
    expect((await publish()).stdout).to.match(/, 0 new, cosigned by 0 of 2\n/);
    expect((await check()).stdout).to.include(", 0 cosignatures of witnesses, ");

    const cosigned = join(folder(), organization, "cosigned");
    mkdirSync(cosigned);
    const plain = checkpoint();
    writeFileSync(join(cosigned, "w1"), plain + known.cosign(plain));
    writeFileSync(join(cosigned, "w2"), earlier + slow.cosign(earlier));
    writeFileSync(join(cosigned, "other"), plain + other.cosign(plain));
    writeFileSync(join(cosigned, "w3"), "no checkpoint");
    // Too large to be read.
    writeFileSync(join(cosigned, "w4"), `${plain}${slow.cosign(plain)}${"x".repeat(16_384)}\n`);
    expect((await publish()).stdout).to.match(/, 0 new, cosigned by 1 of 2\n/);
    // Another publish keeps the line.
    await publish();
    expect(checkpoint()).to.equal(plain + known.cosign(plain));
    expect((await check()).stdout).to.include(", 2 cosignatures of witnesses, ");

    // More files than are read, before those of the witnesses.
    const others = Array.from({ length: 64 }, (_, index) => join(cosigned, `0-${String(index)}`));
    for (const name of others) writeFileSync(name, "");
    expect((await publish()).stdout).to.match(/cosigned by 0 of 2\n/);
    for (const name of others) rmSync(name);

    // The witness has seen the book of another past.
    const otherRoot = plain.replace(/^[A-Za-z0-9+/]{43}=$/m, Buffer.alloc(32, 7).toString("base64"));
    writeFileSync(join(cosigned, "w5"), otherRoot + known.cosign(otherRoot));
    const differs = await check();
    expect(differs.code).to.equal(1);
    expect(differs.stdout).to.match(
      /seq 4, .*: expected the checkpoint that a witness cosigned; found .* another root/,
    );
    const longer = plain.replace("\n4\n", "\n9\n");
    writeFileSync(join(cosigned, "w5"), longer + known.cosign(longer));
    expect((await check()).stdout).to.match(
      /seq 9, .*: expected the checkpoint that a witness cosigned; found .* ends/,
    );
    rmSync(join(cosigned, "w5"));
    writeFileSync(file, verifierKeyOf("acme", readSealKeys(keyFile).publicKeys[0]));
    expect((await publish()).stderr).to.match(/witnesses cannot be used: line 1 is not the key of a witness/);
    expect((await kesc(["verify", "--witnesses", file], variables())).code).to.equal(3);
    // Who knows no witness publishes no line of theirs.
    await seal("publish", folder());
    expect(checkpoint()).to.equal(plain);
  });

  it("does not publish a book that goes on differently, and verify names the row", async () => {
    const before = checkpoint();
    await unguardedly({ address: address() }, "UPDATE journal SET reason = 'another' WHERE seq = 4");
    await unguardedly({ address: address() }, "DELETE FROM seals");
    await grow("after");
    await sealAll();
    const { code, stderr } = await seal("publish", folder());
    expect(code).to.equal(1);
    expect(stderr).to.match(/the first 5 rows are not those of which 4 were published/);
    expect(checkpoint()).to.equal(before);
    const { stdout } = await kesc(["verify", "--published", folder()], variables());
    expect(stdout).to.match(/seq 4, journal: expected the row that was published; found another row/);
  });

  it("refuses a folder that is no published copy", async () => {
    const { code, stderr } = await kesc(["verify", "--published", folder("nowhere")], variables());
    expect(stderr).to.match(/The published copy .*nowhere cannot be used: it does not exist/);
    expect(code).to.equal(3);
    expect(existsSync(folder("nowhere"))).to.equal(false);
  });

  it("clears an alarm, with words", async () => {
    expect((await seal("clear", organization, "--by", "amina", "--reason", "looked")).stderr).to.match(/has no alarm/);
    await withDatabase(async ({ cells: [cell] }) => {
      const past = { size: 1, firstSeq: 1, lastSeq: 1, problem: "a test" };
      const book = { number: 1, organizationId: organization as never };
      await sealStore(cell).raise(book, past, toUnixMillis(Date.now() - 1_000));
    });
    expect(await state()).to.deep.nested.include({ "alarm.problem": "a test" });
    expect((await seal("list")).stdout).to.contain("a test");
    expect((await kesc(["verify"], variables())).stdout).to.match(/seal_alarms.*no alarm that nobody has cleared/);
    const cleared = await seal("clear", organization, "--by", "amina", "--reason", "a test of the alarm");
    expect(cleared.stdout).to.match(/^Cleared the alarm of org_/);
    expect(await state()).to.include({ alarm: null });
  });

  it("forgets the noted seal with the alarm, so that a restored book is sealed on", async () => {
    const memory = (): SealMemoryFile => new SealMemoryFile(keyFile, (error) => expect.fail(String(error)));
    const sealRemembering = (): Promise<void> =>
      withDatabase(async ({ cells: [cell] }) => {
        const privateKey = (): KeyObject => readSealKeys(keyFile).privateKey;
        await givenSealer(cell, { privateKey, memory: memory() }).sealer.sealAll();
      });
    await grow("remembered");
    await sealRemembering();
    expect(statSync(`${keyFile}.seals`).mode & PERMISSIONS).to.equal(0o600);
    const size = Number((await state())["size"]);
    expect(memory().of(organization)?.size).to.equal(size);
    await unguardedly({ address: address() }, `DELETE FROM seals WHERE size = ${String(size)}`);
    await grow("after the restore");
    await sealRemembering();
    const problem = `the seal of the first ${String(size)} rows is gone`;
    expect(await state()).to.nested.include({ "alarm.problem": problem });
    const clear = (): Promise<Ended> => seal("clear", organization, "--by", "amina", "--reason", "restored last night");
    // A folder in its place: nobody can write the file.
    renameSync(`${keyFile}.seals`, `${keyFile}.kept`);
    mkdirSync(`${keyFile}.seals`);
    expect((await clear()).stderr).to.match(/cannot be forgotten: .* The alarm stands\. Nothing was done/);
    expect(await state()).to.nested.include({ "alarm.problem": problem });
    rmdirSync(`${keyFile}.seals`);
    renameSync(`${keyFile}.kept`, `${keyFile}.seals`);
    await clear();
    expect(memory().of(organization)).to.equal(undefined);
    await sealRemembering();
    expect(await state()).to.include({ alarm: null, size: String(size + 1) });
  });

  it("takes the key of another place only in the book that came with it, and up to its last row", async () => {
    const other = await kescJson<{ id: string }>(["org", "create", "--name", "other"], variables());
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    await withDatabase(async ({ cells: [cell] }) => {
      const { store } = givenSealer(cell);
      const books = async (after: number): Promise<readonly SealableBook[]> =>
        (await store.books(after)).filter(({ organizationId }) => organizationId === other.id);
      await givenSealer(cell, { store: { ...store, books }, privateKey: () => privateKey }).sealer.sealAll();
    });
    const before = readFileSync(keyFile, "utf8");
    const isKnownAs = async (
      ...book: readonly [] | readonly [organization: string, size: number]
    ): Promise<boolean> => {
      const [organizationId, size] = book;
      const bytes = publicBytesOf(publicKey);
      const line = publicLineOf(organizationId === undefined ? { bytes } : { bytes, organizationId, size });
      writeFileSync(keyFile, `${before}${line}\n`);
      const { stdout } = await kesc(["verify"], variables());
      return !stdout.includes(`${other.id}, seq 1, seals: expected a note that a key of the seal key file signed`);
    };
    expect(await isKnownAs()).to.equal(true);
    expect(await isKnownAs(organization, 9)).to.equal(false);
    expect(await isKnownAs(other.id, 1)).to.equal(true);
    const header = {
      sealPublicKeys: exportedKeys(readSealKeys(keyFile), other.id),
      organizationId: other.id,
      lastSeq: 1,
    };
    expect(header.sealPublicKeys).to.have.lengthOf(3);
    expect(evidenceOf({ keyFile }, header as Parameters<typeof evidenceOf>[1]).arrivedKeys).to.have.lengthOf(1);

    await seal("publish", folder());
    const keysOf = (id: string): readonly string[] =>
      readFileSync(join(folder(), id, "keys"), "utf8")
        .trim()
        .split("\n");
    const [origin = ""] = readFileSync(join(folder(), other.id, "checkpoint"), "utf8").split("\n");
    expect(keysOf(other.id), "no key of this place has signed it").to.deep.equal([
      verifierKeyOf(origin, publicBytesOf(publicKey)),
    ]);
    expect(keysOf(organization)).to.have.lengthOf(2);
    await seal("rotate");
    expect(readSealKeys(keyFile).arrivedKeys, "a rotation keeps it").to.have.lengthOf(1);
    writeFileSync(keyFile, before);
    expect(() => evidenceOf({ keyFile }, header as Parameters<typeof evidenceOf>[1])).to.throw(
      `public ${publicBytesOf(publicKey).toString("base64url")} ${other.id} 1\n`,
    );
  });
});
