import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { expect } from "chai";

import { newOrganization } from "../../daraja/mpesa/organization.js";
import { readVariables } from "../../runtime/variables.js";
import { VARIABLES } from "../../runtime/variables/declarations.js";
import { readSettingsFile } from "../../src/cli/rail/account-files.js";
import { MPESA } from "../../src/rails/mpesa/account.js";
import { callbackProblems } from "../../src/startup/callbacks.js";
import { CERTIFICATE_FILE } from "../daraja/given.js";

const FOLDER = "examples/mpesa";
const SETTINGS = ["sandbox.json", "production.json"];
const CREDENTIALS = ["simulator-credentials.json", "credentials-template.json"];

const textOf = (name: string): string => readFileSync(join(FOLDER, name), "utf8");
const jsonOf = (name: string): Readonly<Record<string, unknown>> => JSON.parse(textOf(name)) as never;

describe("examples/mpesa", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "kesc-examples-"));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it("has the files that its page names", () => {
    const [, table = ""] = /\n(\| file[^]*?)\n\n/.exec(textOf("README.md")) ?? [];
    const named = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name);
    expect(readdirSync(FOLDER)).to.include.members(named);
    expect(named).to.include.members(["simulator.json", ...SETTINGS, ...CREDENTIALS]);
  });

  for (const name of SETTINGS) {
    it(`has settings that kesc rail set takes, with the certificate beside them: ${name}`, () => {
      const { certificateFile, ...settings } = jsonOf(name);
      const certificatePem = readFileSync(CERTIFICATE_FILE, "utf8");
      copyFileSync(join(FOLDER, name), join(folder, name));
      copyFileSync(CERTIFICATE_FILE, join(folder, basename(String(certificateFile))));
      expect(JSON.parse(readSettingsFile(MPESA, join(folder, name)))).to.deep.include({ ...settings, certificatePem });
    });
  }

  it("has the settings and credentials of the simulator, with its certificate", () => {
    const { consumerKey, consumerSecret, passkey, initiatorName, initiatorPassword, shortcode } = newOrganization();
    const settings = JSON.parse(readSettingsFile(MPESA, join(FOLDER, "simulator.json"))) as Readonly<
      Record<string, unknown>
    >;
    expect(settings).to.deep.equal({
      baseUrl: "http://127.0.0.1:8090",
      collectShortcode: shortcode,
      payOutShortcode: shortcode,
      initiatorName,
      certificatePem: readFileSync(CERTIFICATE_FILE, "utf8"),
    });
    const credentials = jsonOf("simulator-credentials.json");
    expect(credentials).to.deep.equal({ consumerKey, consumerSecret, passkey, initiatorPassword });
  });

  for (const name of CREDENTIALS) {
    it(`has credentials with each field that M-Pesa needs, and no other: ${name}`, () => {
      expect(MPESA.credentialsProblems(jsonOf(name))).to.deep.equal([]);
    });
  }

  it("has settings for the environment that each file is called after", () => {
    expect(jsonOf("sandbox.json")).to.include({ environment: "sandbox" });
    expect(jsonOf("production.json")).to.include({ environment: "production" });
  });

  it("has an environment that servers take", () => {
    const lines = textOf("server.env").split("\n");
    const given = lines.filter((line) => line !== "" && !line.startsWith("#")).map((line) => line.split("="));
    const variables = Object.fromEntries(given) as Readonly<Record<string, string>>;
    const read = readVariables(variables);
    expect(read).to.include({ ok: true });
    if (read.ok) expect(callbackProblems(read.values)).to.deep.equal([]);
    expect(variables).to.include.keys("KESC_CALLBACK_BASE_URL", "KESC_CALLBACK_SECRET_FILE");
  });

  it("names no variable that does not exist", () => {
    const named = [...textOf("README.md").matchAll(/\bKESC_[A-Z_]+\b/g)].map(([name]) => name);
    expect([...new Set(named)].filter((name) => !(name in VARIABLES) && name !== "KESC_API_KEY")).to.deep.equal([]);
  });
});
