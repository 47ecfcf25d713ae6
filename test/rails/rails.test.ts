import { readFileSync } from "node:fs";

import { expect } from "chai";

import { INITIATOR_KEY } from "../../daraja/access/initiator-key.js";
import type { RailAccountId } from "../../src/domain/payment.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { MPESA_CAPABILITIES } from "../../src/rails/mpesa/limits.js";
import { type RailAccountSource, WrongRailAccountError } from "../../src/rails/rail-kind.js";
import { railOf } from "../../src/rails/rails.js";
import { CERTIFICATE_FILE } from "../daraja/given.js";

const SETTINGS = {
  environment: "production",
  collectShortcode: "174379",
  payOutShortcode: "600992",
  initiatorName: "testapi",
  certificatePem: readFileSync(CERTIFICATE_FILE, "utf8"),
};
const CREDENTIALS = {
  consumerKey: "the-consumer-key",
  consumerSecret: "the-consumer-secret",
  passkey: "the-passkey",
  initiatorPassword: "the-initiator-password",
};
const DEPENDENCIES = {
  now: () => toUnixMillis(0),
  monotonicMillis: () => 0,
  callbackUrl: () => "https://kesc.test/callbacks/x",
  hosts: [],
};

interface Given {
  readonly isSandbox?: boolean;
  readonly rail?: string;
  readonly settings?: object;
  readonly credentials?: object | undefined;
}

function source({ settings, credentials = {}, ...given }: Given = {}): RailAccountSource {
  return {
    id: "rail_01jd2r6p5vf8ksw3xhb1z7q4ye" as RailAccountId,
    isSandbox: false,
    rail: "mpesa",
    settings: JSON.stringify({ ...SETTINGS, ...settings }),
    credentials: JSON.stringify({ ...CREDENTIALS, ...credentials }),
    ...given,
  };
}

function problemsOf(account: RailAccountSource, dependencies = {}): readonly string[] {
  try {
    railOf(account, { ...DEPENDENCIES, ...dependencies });
    return [];
  } catch (error) {
    if (error instanceof WrongRailAccountError) return error.problems;
    throw error;
  }
}

describe("the rail of an account", () => {
  it("is M-Pesa with its own limits, unless the settings name others", () => {
    const rail = railOf(source(), DEPENDENCIES);
    expect(rail.name).to.equal("mpesa");
    expect(rail.capabilities("MINT")).to.equal(MPESA_CAPABILITIES.MINT);
    const limits = { redeem: { min: "20.00", max: "1000" } };
    const limited = railOf(source({ settings: { limits } }), DEPENDENCIES);
    expect(limited.capabilities("REDEEM")).to.deep.equal({
      ...MPESA_CAPABILITIES.REDEEM,
      minCents: 2_000,
      maxCents: 100_000,
      destinations: {},
    });
    expect(limited.capabilities("MINT")).to.equal(MPESA_CAPABILITIES.MINT);
    const business = { min: "1.00", max: "500" };
    const paying = railOf(
      source({ settings: { limits: { business }, destinations: ["phone", "till"] } }),
      DEPENDENCIES,
    );
    const { phoneNumbers, ...toPhone } = MPESA_CAPABILITIES.REDEEM;
    const TILL = { ...toPhone, minCents: 100, maxCents: 50_000 };
    expect(paying.capabilities("REDEEM")).to.deep.equal({
      ...toPhone,
      phoneNumbers,
      destinations: { PHONE: toPhone, TILL },
    });
  });

  it("is the sandbox, for a sandbox organization only", () => {
    const sandbox = { ...source({ rail: "sandbox", isSandbox: true }), settings: "{}" };
    expect(railOf(sandbox, DEPENDENCIES).name).to.equal("sandbox");
    expect(problemsOf({ ...sandbox, isSandbox: false }).join()).to.match(/only sandbox organizations can have it/);
  });

  it("keeps test shillings and live organizations apart", () => {
    const inSandbox = { settings: { environment: "sandbox" } };
    expect(problemsOf(source(inSandbox))).to.deep.equal([
      "A live organization cannot use the environment sandbox of M-Pesa.",
    ]);
    expect(problemsOf(source({ isSandbox: true }))).to.deep.equal([
      "A sandbox organization cannot use the environment production of M-Pesa.",
    ]);
    expect(problemsOf(source({ ...inSandbox, isSandbox: true }))).to.deep.equal([]);
    const simulator = { settings: { environment: undefined, baseUrl: "http://127.0.0.1:8090" } };
    expect(problemsOf(source({ ...simulator, isSandbox: true }))).to.deep.equal([]);
  });

  for (const [baseUrl, hosts, isTaken] of [
    ["https://api.safaricom.co.ke", [], true],
    ["https://proxy.example.com/daraja", [], false],
    ["https://sandbox.safaricom.co.ke", [], false],
    ["https://api.safaricom.co.ke.example.com", [], false],
    ["https://api.safaricom.co.ke:8443", [], false],
    ["http://127.0.0.1:8090", [], false],
    ["https://proxy.example.com/daraja", ["proxy.example.com"], true],
    ["http://127.0.0.1:8090", ["127.0.0.1"], true],
    ["http://127.0.0.1:8090", ["127.0.0.1:8090"], true],
    ["http://127.0.0.1:8091", ["127.0.0.1:8090"], false],
    ["https://other.proxy.example.com", ["proxy.example.com"], false],
  ] as const) {
    const name = hosts.length === 0 ? "no other host" : hosts.join();
    it(`${isTaken ? "takes" : "refuses"} ${baseUrl} for a live organization where the server names ${name}`, () => {
      const account = source({ settings: { environment: undefined, baseUrl } });
      expect(problemsOf(account, { hosts })).to.deep.equal(
        isTaken ? [] : ["baseUrl must be https://api.safaricom.co.ke, unless KESC_RAIL_HOSTS names its host."],
      );
      expect(problemsOf({ ...account, isSandbox: true }, { hosts })).to.deep.equal([]);
    });
  }

  it("needs an address for callbacks, and a name that is known", () => {
    expect(problemsOf(source(), { callbackUrl: undefined }).join()).to.match(/KESC_CALLBACK_BASE_URL/);
    expect(problemsOf(source({ rail: "airtel" }))).to.deep.equal(["This version of KESC has no rail airtel."]);
  });

  const SHORTCODE = 'must be the digits of a shortcode in quotes, such as "174379".';
  const CERTIFICATE = "certificatePem must be Safaricom's certificate in PEM, with an RSA key.";
  for (const [what, given, problem] of [
    ["a missing field", { settings: { initiatorName: undefined } }, "initiatorName is missing."],
    ["an empty field", { credentials: { passkey: " " } }, "passkey must be a text of 1 to 500 characters."],
    ["a number", { credentials: { consumerKey: 7 } }, "consumerKey must be a text of 1 to 500 characters."],
    ["a wrong shortcode", { settings: { collectShortcode: "+254712345678" } }, `collectShortcode ${SHORTCODE}`],
    ["a shortcode without quotes", { settings: { payOutShortcode: 600992 } }, `payOutShortcode ${SHORTCODE}`],
    ["an unknown field", { settings: { passkey: "secret" } }, "passkey is not a field that is known."],
    ["a wrong environment", { settings: { environment: "live" } }, "environment must be sandbox or production."],
    [
      "two places",
      { settings: { baseUrl: "https://proxy.example.com" } },
      "environment must be sandbox or production, or baseUrl in its place.",
    ],
    [
      "a URL without TLS",
      { settings: { environment: undefined, baseUrl: "http://proxy.example.com" } },
      "baseUrl must begin with https, unless it is on this machine.",
    ],
    [
      "a kind of destination that is none",
      { settings: { destinations: ["bank"] } },
      "destinations.0 must be phone, till or paybill.",
    ],
    [
      "a till without limits",
      { settings: { destinations: ["till"] } },
      "limits.business must have min and max for a till or a paybill: M-Pesa publishes no limits of these payments.",
    ],
    [
      "a kind of row that is none",
      { settings: { statementWords: { theft: ["gone"] } } },
      "statementWords.theft is not a field that is known.",
    ],
    [
      "the beginning of a built-in word",
      { settings: { statementWords: { own_transfer: [" PAY  bill"] } } },
      "statementWords.own_transfer.0 must not be a word that is built in, nor the beginning of one.",
    ],
    [
      "a word under two kinds",
      { settings: { statementWords: { own_transfer: ["sweep"], charge: ["Sweep"] } } },
      "statementWords must not have one word under two kinds, other than pay_in and payout.",
    ],
    [
      "a short word",
      { settings: { statementWords: { charge: ["tax"] } } },
      "statementWords.charge.0 must be a list of at most 50 texts of 4 to 60 characters.",
    ],
    [
      "51 words",
      { settings: { statementWords: { charge: Array.from({ length: 51 }, (_, index) => `levy ${String(index)}`) } } },
      "statementWords.charge must be a list of at most 50 texts of 4 to 60 characters.",
    ],
    ["a version of C2B that is none", { settings: { c2bVersion: 3 } }, "c2bVersion must be 1 or 2."],
    ["a version in quotes", { settings: { c2bVersion: "2" } }, "c2bVersion must be 1 or 2."],
    [
      "another word for an unreachable service",
      { settings: { whenUnreachable: "Canceled" } },
      "whenUnreachable must be Completed or Cancelled.",
    ],
    ["another certificate", { settings: { certificatePem: "no certificate" } }, CERTIFICATE],
    ["a private key", { settings: { certificatePem: INITIATOR_KEY } }, CERTIFICATE],
    [
      "a limit that is no amount",
      { settings: { limits: { mint: { min: "1.5", max: "70.00" } } } },
      "limits.mint.min must be whole shillings.",
    ],
    [
      "limits that nothing fits",
      { settings: { limits: { redeem: { min: "70.00", max: "10.00" } } } },
      "limits.redeem must have a min that is not above max.",
    ],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(problemsOf(source(given))).to.deep.equal([problem]);
    });
  }

  it("names all problems together, and shows no value", () => {
    const account = source({ settings: { environment: "x-secret-x" }, credentials: { passkey: "" } });
    const problems = problemsOf(account);
    expect(problems).to.have.lengthOf(2);
    expect(problems.join()).not.to.match(/secret-x|the-/);
    expect(problemsOf({ ...account, settings: "no JSON", credentials: undefined })).to.have.lengthOf(2);
  });
});
