import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { readCallbackToken } from "../../src/rails/callback-token.js";
import { callbackUrls, readCallbackSecrets } from "../../src/startup/callbacks.js";
import { readConfig } from "../../src/startup/config.js";
import { configOf } from "../support/config.js";

const NEW = "ab".repeat(32);
const OLD = "cd".repeat(32);
const UUID = "01932d53-1b2e-7c3a-8f00-0123456789ab";

describe("the addresses of callbacks", () => {
  let folder: string;
  let secretFile: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "kesc-callbacks-"));
    secretFile = join(folder, "callback.secret");
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const problemsOf = (url: string): readonly string[] => {
    const result = readConfig({ KESC_CALLBACK_BASE_URL: url, KESC_CALLBACK_SECRET_FILE: secretFile });
    return result.ok ? [] : result.problems;
  };

  it("are configured by two variables together", () => {
    const both = { KESC_CALLBACK_BASE_URL: "https://kesc.example.com/", KESC_CALLBACK_SECRET_FILE: secretFile };
    expect(configOf(both).callbacks).to.deep.equal({ baseUrl: "https://kesc.example.com", secretFile });
    expect(readConfig({ KESC_CALLBACK_BASE_URL: "https://kesc.example.com" })).to.deep.equal({
      ok: false,
      problems: [
        "KESC_CALLBACK_SECRET_FILE is not set. KESC_CALLBACK_BASE_URL and KESC_CALLBACK_SECRET_FILE come together.",
      ],
    });
  });

  it("begin with https, and hold no word that M-Pesa refuses", () => {
    expect(problemsOf("http://kesc.example.com").join()).to.match(/^KESC_CALLBACK_BASE_URL must begin with https/);
    expect(problemsOf("https://kesc.example.com/Mpesa")).to.deep.equal([
      'KESC_CALLBACK_BASE_URL must not contain "Mpesa": the rail mpesa refuses such an address; it is "https://kesc.example.com/Mpesa".',
    ]);
  });

  it("hold a token of the first secret, for one cell", () => {
    writeFileSync(secretFile, `${NEW}\n${OLD}\n`);
    const secrets = readCallbackSecrets({ secretFile });
    const url = callbackUrls({ baseUrl: "https://kesc.example.com" }, secrets, 3)("collect", UUID);
    expect(url).to.match(/^https:\/\/kesc\.example\.com\/callbacks\/[0-9a-f]{72}$/);
    const token = url.slice(url.lastIndexOf("/") + 1);
    const subject = { cell: 3, purpose: "collect", uuid: UUID };
    expect(readCallbackToken([Buffer.from(NEW, "hex")], token)).to.deep.equal(subject);
    expect(readCallbackToken([Buffer.from(OLD, "hex")], token)).to.equal(undefined);
    expect(readCallbackToken(secrets, token)).to.deep.equal(subject);
  });

  for (const [what, content, words] of [
    ["a file that is missing", undefined, "names a file that cannot be read"],
    ["an empty file", "\n", "names an empty file"],
    ["a short secret", "abcd\n", "must hold one secret, or two during a rotation"],
    ["a third secret", `${NEW}\n${OLD}\n${NEW}\n`, "must hold one secret, or two during a rotation"],
    ["another alphabet", `${"g".repeat(64)}\n`, "must hold one secret, or two during a rotation"],
  ] as const) {
    it(`refuse ${what}, and do not repeat it`, () => {
      if (content !== undefined) writeFileSync(secretFile, content);
      const read = (): unknown => readCallbackSecrets({ secretFile });
      expect(read).to.throw(`KESC_CALLBACK_SECRET_FILE ${words}`);
      expect(read).not.to.throw(/abcd|abab|gggg/);
    });
  }
});
