import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { checkPack } from "../../src/months/check-pack.js";
import { hashedText, zipOf } from "../../src/months/pack.js";
import { ZipReader } from "../../src/months/zip-reader.js";
import { SEAL_PUBLIC_KEY } from "../support/seals/given-seals.js";
import { forgeries, MONTH, signed, writePack } from "./given-pack.js";

describe("the check of a pack", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "kesc-pack-"));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it("holds for what the service has made, with the key that is trusted or with that of the pack", async () => {
    const path = join(folder, "whole.zip");
    await writePack(path, signed(MONTH));
    for (const keys of [[SEAL_PUBLIC_KEY], undefined]) {
      expect((await checkPack(path, keys)).problems).to.deep.equal([]);
    }
    expect((await checkPack(path, [Buffer.alloc(32)])).problems).to.deep.equal([
      "The key has not signed the manifest.",
    ]);
  });

  for (const [what, texts, said] of forgeries()) {
    it(`finds ${what}`, async () => {
      const path = join(folder, "forged.zip");
      await writePack(path, texts());
      expect((await checkPack(path, [SEAL_PUBLIC_KEY])).problems).to.include(said);
    });
  }

  it("refuses what is no pack", async () => {
    const path = join(folder, "none.zip");
    const whole = join(folder, "whole.zip");
    await writePack(whole, { a: "text" });
    for (const [bytes, problem] of [
      ["", "it is no ZIP, or is not whole"],
      ["x".repeat(1_000), "it is no ZIP, or is not whole"],
    ] as const) {
      writeFileSync(path, bytes);
      expect(await rejection(checkPack(path, undefined))).to.equal(problem);
    }
    expect(await rejection(checkPack(whole, undefined))).to.equal("it has no file manifest.json");
    for (const manifest of ['{"format":"another"}', "null", '{"format":"kesc-month-1"}']) {
      await writePack(whole, { ...signed(MONTH), "manifest.json": manifest });
      expect(await rejection(checkPack(whole, undefined))).to.equal("its manifest is not of the form kesc-month-1");
    }
    await writePack(whole, { ...signed(MONTH), "manifest.json": "{" });
    expect(await rejection(checkPack(whole, undefined))).to.equal("its manifest is no JSON");
  });

  it("reads each file of the ZIP as it was, packed or not", async () => {
    const path = join(folder, "files.zip");
    const texts = { empty: "", "long.txt": "äöü\n".repeat(100_000), "book.xlsx": "PK" };
    await writePack(path, texts);
    const zip = await ZipReader.open(path);
    for (const [name, text] of Object.entries(texts)) expect(await zip.text(name)).to.equal(text);
    await zip.close();
  });

  it("is of a ZIP that ends with an error once a file is not as the manifest says", async () => {
    const file = (text: string) => ({
      name: "a",
      async *parts() {
        yield await Promise.resolve(text);
      },
    });
    const written = (async () => {
      for await (const part of zipOf([file("b")], [hashedText("a", "a")])) expect(part).to.be.instanceOf(Uint8Array);
    })();
    expect(await rejection(written)).to.equal("the file a of the pack is not as the manifest says");
  });
});

async function rejection(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "none",
    (error: unknown) => (error as Error).message,
  );
}
