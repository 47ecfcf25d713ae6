import { generateKeyPairSync } from "node:crypto";

import { expect } from "chai";

import type { Organization } from "../../../daraja/mpesa/organization.js";
import type { ProbedProduct } from "../../../src/operators/rails.js";
import { ENGINES_OF_STAGE } from "../../support/databases.js";
import { RailWorld } from "./world.js";

const OTHER_KEY = generateKeyPairSync("rsa", { modulusLength: 2048 })
  .publicKey.export({ type: "spki", format: "pem" })
  .toString();
const ASKED = ["token", "clock", "push", "received payments", "balance", "status query"];

interface Mistake {
  readonly account?: Parameters<RailWorld["setAccount"]>[1];
  /** What Safaricom has set up otherwise. */
  readonly atSafaricom?: Partial<Organization>;
  readonly aheadMillis?: number;
  /** The product that shows it. */
  readonly product: string;
  readonly shows: readonly [result: ProbedProduct["result"], code: string | undefined];
  readonly advice: RegExp;
  readonly notAsked?: readonly string[];
  readonly wrongPasswords?: number;
}

const REST = ["clock", "push", "received payments", "balance", "status query"];
const LACKING = ["LACKING", "401.003.01"] as const;

/** What a person gets wrong on the first day, one mistake at a time. */
const MISTAKES: Readonly<Record<string, Mistake>> = {
  "a wrong consumer secret": {
    account: { consumerSecret: "wrong" },
    product: "token",
    shows: ["WRONG", "400.008.01"],
    advice: /consumerKey and consumerSecret/,
    notAsked: REST,
  },
  "an address with a path": {
    account: { basePath: "/mpesa" },
    product: "token",
    shows: ["WRONG", "404.001.01"],
    advice: /baseUrl must end before/,
    notAsked: REST,
  },
  "an address where nothing listens": {
    account: { baseUrl: "http://127.0.0.1:65534" },
    product: "token",
    shows: ["UNANSWERED", "TOKEN_ECONNREFUSED"],
    advice: /compare baseUrl or environment/,
    notAsked: REST,
  },
  "a clock five minutes ahead": {
    aheadMillis: 300_000,
    product: "clock",
    shows: ["WRONG", "CLOCK"],
    advice: /is 3\d\d seconds ahead of/,
  },
  "a wrong passkey": {
    account: { passkey: "wrong" },
    product: "push",
    shows: ["WRONG", "500.001.1001"],
    advice: /Compare passkey/,
  },
  "a wrong shortcode": {
    account: { shortcode: "999999" },
    product: "push",
    shows: ["WRONG", "500.001.1001"],
    advice: /Compare collectShortcode/,
    notAsked: ["status query"],
  },
  "a wrong password of the initiator": {
    account: { initiatorPassword: "wrong" },
    product: "balance",
    shows: ["WRONG", "2001"],
    advice: /initiatorPassword.*certificate/,
    notAsked: ["status query"],
    wrongPasswords: 1,
  },
  "the certificate of another environment": {
    account: { certificatePem: OTHER_KEY },
    product: "balance",
    shows: ["WRONG", "2001"],
    advice: /initiatorPassword.*certificate/,
    notAsked: ["status query"],
    wrongPasswords: 1,
  },
  "an initiator without the role": {
    atSafaricom: { lacksInitiatorRole: true },
    product: "balance",
    shows: ["WRONG", "21"],
    advice: /lacks the role/,
    notAsked: ["status query"],
  },
  "an app without pushes": {
    atSafaricom: { lacksProduct: "/mpesa/stkpush" },
    product: "push",
    shows: LACKING,
    advice: /lacks this product/,
  },
  "an app without balances": {
    atSafaricom: { lacksProduct: "/mpesa/accountbalance" },
    product: "balance",
    shows: LACKING,
    advice: /lacks this product/,
    notAsked: ["status query"],
  },
  "an app without status queries": {
    atSafaricom: { lacksProduct: "/mpesa/transactionstatus" },
    product: "status query",
    shows: LACKING,
    advice: /lacks this product/,
  },
  "an app without Pull": {
    atSafaricom: { lacksProduct: "/pulltransactions" },
    product: "received payments",
    shows: ["LACKING", "401.001"],
    advice: /lacks this product/,
  },
};

for (const engine of ENGINES_OF_STAGE) {
  describe(`a first day with M-Pesa, where the probe finds (${engine})`, () => {
    let world: RailWorld;
    const resultsOf = (probed: readonly ProbedProduct[]): object =>
      Object.fromEntries(
        probed.filter(({ product }) => ASKED.includes(product)).map((each) => [each.product, each.result]),
      );
    const allWork = Object.fromEntries(ASKED.map((product) => [product, "WORKS"]));

    before(async () => {
      world = await RailWorld.start(engine, 1);
    });
    after(() => world.dispose());

    it("nothing wrong, but that Pull is not registered yet, and moves nothing", async () => {
      const business = world.business(0);
      const before = await world.probe(business);
      expect(resultsOf(before)).to.deep.equal({ ...allWork, "received payments": "WRONG" });
      expect(before.find(({ product }) => product === "received payments")?.advice).to.match(/kesc rail register-pull/);
      expect(before.find(({ product }) => product === "registration for deposits")?.result).to.equal("NOT_ASKED");
      await world.takeDeposits(business);
      const probed = await world.probe(business);
      expect(resultsOf(probed)).to.deep.equal(allWork);
      expect(probed.map(({ product, result }) => [product, result]).slice(ASKED.length)).to.deep.equal([
        ["payout", "NOT_ASKED"],
        ["payout to a business", "NOT_ASKED"],
        ["registration for deposits", "WORKS"],
      ]);
      expect([world.movedFor(business), world.ordersOf(business)]).to.deep.equal([[], []]);
    });

    for (const [name, mistake] of Object.entries(MISTAKES)) {
      it(name, async () => {
        const business = world.business(0);
        const organization = world.organizationOf(business);
        const { account = {}, atSafaricom = {}, aheadMillis, product, shows, advice, notAsked = [] } = mistake;
        const usual = { lacksProduct: undefined, lacksInitiatorRole: false, wrongPasswords: 0 };
        Object.assign(organization, usual, atSafaricom);
        await world.setAccount(business, account);
        const probed = await world.probe(business, aheadMillis);
        const found = probed.find((each) => each.product === product);
        expect([found?.result, found?.code]).to.deep.equal(shows);
        expect(found?.advice).to.match(advice);
        for (const other of notAsked) {
          expect(probed.find((each) => each.product === other)?.result, other).to.equal("NOT_ASKED");
        }
        expect(organization.wrongPasswords).to.equal(mistake.wrongPasswords ?? 0);
        // Neither the server nor a probe uses a refused initiator again.
        if (mistake.wrongPasswords === 1) {
          const again = await world.probe(business);
          expect(again.find((each) => each.product === product)?.advice).to.match(/refused this credential before/);
          expect(organization.wrongPasswords).to.equal(1);
        }
        expect(world.ordersOf(business)).to.deep.equal([]);
      });
    }
  });
}
