import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { readSecret } from "../../runtime/files/secret-file.js";

describe("a secret", () => {
  const folder = mkdtempSync(join(tmpdir(), "kesc-secret-"));
  const file = join(folder, "secret");

  for (const [what, environment] of [
    ["a variable", { PIN: "1234" }],
    ["a variable, when the other one is empty", { PIN: "1234", PIN_FILE: "" }],
  ] as const) {
    it(`comes from ${what}`, () => {
      expect(readSecret(environment, "PIN")).to.deep.equal({ ok: true, value: "1234" });
    });
  }

  for (const [text, value] of [
    ["1234", "1234"],
    ["1234\n", "1234"],
    ["1234\r\n", "1234"],
    [" 12 34 \n\n", " 12 34 \n"],
  ] as const) {
    it(`comes from the file ${JSON.stringify(text)}, without its last line break`, () => {
      writeFileSync(file, text);
      expect(readSecret({ PIN_FILE: file }, "PIN")).to.deep.equal({ ok: true, value });
    });
  }

  it("is none when neither variable is set", () => {
    expect(readSecret({ PIN: "" }, "PIN")).to.deep.equal({ ok: true, value: undefined });
  });

  it("comes from one of the two variables, never from both", () => {
    const problem = "PIN and PIN_FILE are both set. Unset one of them.";
    expect(readSecret({ PIN: "1234", PIN_FILE: file }, "PIN")).to.deep.equal({ ok: false, problem });
  });

  it("is wrong when its file is missing, and the problem names the file", () => {
    const problem = `PIN_FILE names a file that cannot be read (ENOENT); it is "${folder}/none".`;
    expect(readSecret({ PIN_FILE: `${folder}/none` }, "PIN")).to.deep.equal({ ok: false, problem });
  });
});
