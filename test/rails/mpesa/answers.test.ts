import { expect } from "chai";

import type { DestinationNumber } from "../../../src/domain/destination.js";
import {
  type Answered,
  type AnswerReading,
  type AnswerRow,
  ANSWERS,
  answerWords,
  type DarajaRequest,
  readAnswer,
} from "../../../src/rails/mpesa/answers.js";
import { MPESA_CAPABILITIES } from "../../../src/rails/mpesa/limits.js";
import type { MpesaRail } from "../../../src/rails/mpesa/mpesa.js";
import { RESULTS } from "../../../src/rails/mpesa/result-codes.js";
import { type CodeSource, isProven, SOURCES } from "../../../src/rails/mpesa/sources.js";
import { textUnder } from "../../support/documents/sections.js";
import { payment } from "../support/orders.js";
import { SENDING } from "./forms.js";
import { mpesaRail } from "./mpesa-rail.js";
import { afterToken, type Respond, StubServer } from "./stub-server.js";

const REQUESTS: readonly DarajaRequest[] = [
  "push",
  "payout",
  "business",
  "push query",
  "status",
  "balance",
  "reversal",
  "list",
  "token",
];
const { MINT, REDEEM } = MPESA_CAPABILITIES;
const BUSINESSES = { MINT, REDEEM: { ...REDEEM, destinations: { TILL: REDEEM } } };
const NEVER = new AbortController().signal;

/** The orders of each kind, by the request that sends it. */
const ORDERS = {
  push: payment("MINT"),
  payout: payment("REDEEM"),
  business: payment("REDEEM", { numberKind: "TILL", number: "5432321" as DestinationNumber }),
};

/** What becomes of the first request for an order, by the reading of its answer. */
const SENT: Readonly<Record<AnswerReading, string>> = {
  taken: "accepted",
  "not now": "unreached",
  "turned away": "unreached",
  unknown: "unknown",
  "asked wrongly": "rejected",
  "no product": "rejected",
  "token refused": "unreached",
  "app refused": "unreached",
};

function answerOf({ code, message }: Pick<AnswerRow, "code" | "message">): Answered {
  const isOk = /^(24|1000000\d\d)$/.test(code);
  const words = message === undefined ? "" : (message.source.replaceAll(/[?\\]/g, "").split("|")[0] ?? "");
  return { kind: "answered", isOk, code, message: words, body: isOk ? { ResponseCode: code } : { errorCode: code } };
}

describe("the table of what M-Pesa can answer", () => {
  it("says of each row where it is from, and what it means", () => {
    const rows = [...ANSWERS, ...Object.values(RESULTS).flat()];
    for (const { code, words, sources } of rows) {
      expect(words, code).to.match(/^\S.*\S$/);
      expect(sources, code).to.have.length.above(0);
      for (const source of sources) expect(SOURCES[source], `${code}: ${source}`).to.match(/(19|20)\d\d/);
    }
  });

  for (const row of ANSWERS) {
    for (const of of row.of ?? REQUESTS) {
      it(`has one reading of ${row.code}${row.message === undefined ? "" : ` ${String(row.message)}`} to a ${of}: ${row.reading}`, () => {
        expect(readAnswer(answerOf(row), of).reading).to.equal(row.reading);
        expect(answerWords(row.code, of)).to.include(row.words);
      });
    }
  }

  it("stands in docs/mpesa.md", () => {
    const text = textUnder("## What an answer proves", "docs/mpesa.md");
    const missing = ANSWERS.filter(({ code }) => !text.includes(code.replace("HTTP_", "")));
    expect(missing.map(({ code }) => code)).to.deep.equal([]);
  });

  it("takes an answer for unknown that no row has, or whose row nothing settles", () => {
    for (const of of REQUESTS) {
      expect(readAnswer(answerOf({ code: "400.999.99" }), of).reading).to.equal("unknown");
      expect(readAnswer(answerOf({ code: "HTTP_409" }), of).reading).to.equal("unknown");
    }
    for (const { code, reading, sources } of ANSWERS) {
      if (reading !== "unknown") expect(isProven(sources), `${code} has one source`).to.equal(true);
    }
  });

  for (const [sources, expected] of [
    [["safaricom"], true],
    [["sdk", "old"], true],
    [["sdk"], false],
    [["sdk", "sdk"], false],
    [["apigee"], true],
    [[], false],
  ] as const satisfies [readonly CodeSource[], boolean][]) {
    it(`ends an order by a code of ${sources.join(" and ") || "nobody"}: ${String(expected)}`, () => {
      expect(isProven(sources)).to.equal(expected);
    });
  }
});

describe("an answer to the request for an order", () => {
  let stub: StubServer;
  let rail: MpesaRail;

  async function serving(...responds: readonly Respond[]): Promise<void> {
    stub = await StubServer.start(afterToken(...responds));
    rail = mpesaRail({ baseUrl: stub.url, capabilities: BUSINESSES });
  }

  afterEach(() => stub.stop());

  for (const of of ["push", "payout", "business"] as const) {
    for (const [what, respond, reading, code] of SENDING) {
      it(`to a ${of} is read once, as ${reading}: ${what}`, async () => {
        await serving(respond);
        const sent = await rail.send(ORDERS[of], NEVER);
        expect(sent.kind).to.equal(SENT[reading]);
        expect("code" in sent && sent.code).to.equal(sent.kind === "accepted" ? false : code);
        const isFault = reading === "asked wrongly" || reading === "no product" || code === "NO_RESPONSE_CODE";
        expect(sent.fault?.kind).to.equal(isFault ? "request" : undefined);
        if (sent.kind !== "rejected") return;
        // The first code stays, in words with its path.
        expect(rail.explain(sent.code, sent.place ?? ""))
          .to.include(stub.orders[0]?.path)
          .and.include(code);
      });
    }
  }
});
