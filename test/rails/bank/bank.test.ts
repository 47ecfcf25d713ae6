import { expect } from "chai";

import type { RailAccountId } from "../../../src/domain/payment.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { BANK } from "../../../src/rails/bank/account.js";
import type { PaymentRail } from "../../../src/rails/rail.js";

const SETTINGS = {
  place: "KCB 1234",
  bankCode: "01",
  branchCode: "100",
  account: "1100998877",
  holder: "Acme Ltd",
  form: "pain.001.001.09",
  limits: { min: "100.00", max: "20000000.00" },
};
const COLUMNS = [
  { name: "Ref", value: "reference" },
  { name: "Amount", value: "amount" },
  { name: "Account", value: "account" },
];

function opened(settings: object = SETTINGS): PaymentRail {
  return BANK.open(
    {
      id: "rail_01jd2r6p5vf8ksw3xhb1z7q4ye" as RailAccountId,
      isSandbox: false,
      rail: "bank",
      settings: JSON.stringify(settings),
      credentials: undefined,
    },
    { now: () => toUnixMillis(0), monotonicMillis: () => 0, callbackUrl: undefined, hosts: [] },
  );
}

describe("the rail bank", () => {
  it("pays accounts at banks within its own limits, and no phone, till or paybill", () => {
    const { destinations, phoneNumbers } = opened().capabilities("REDEEM");
    expect(destinations).to.deep.equal({ BANK: { minCents: 10_000, maxCents: 2_000_000_000, stepCents: 1 } });
    expect([phoneNumbers.test("+254712345678"), phoneNumbers.test("")]).to.deep.equal([false, false]);
    expect(opened().capabilities("MINT")).to.not.have.property("destinations");
  });

  it("tells no outcome by itself", async () => {
    const rail = opened();
    const { signal } = new AbortController();
    expect(await rail.query({} as never, signal, () => Promise.resolve(""))).to.deep.include({ kind: "open" });
    expect(await rail.send({} as never, signal)).to.deep.include({ kind: "unreached" });
    expect(rail.read({} as never, {} as never)).to.equal(undefined);
    expect(await rail.askBalance("", signal)).to.deep.include({ kind: "unavailable" });
    expect(rail.readBalance({} as never)).to.equal(undefined);
  });

  it("keeps all that a file says as its places, so that none changes while payments are in a file", () => {
    const placesOf = (given: object) => BANK.read(JSON.stringify({ ...SETTINGS, ...given }))?.places;
    const places = placesOf({});
    expect(placesOf({ limits: { min: "1.00", max: "2.00" }, place: "KCB" })).to.deep.equal(places);
    for (const given of [
      { account: "1100998878" },
      { bankCode: "68" },
      { branchCode: "101" },
      { holder: "Acme" },
      { bic: "KCBLKENX" },
      { customerId: "1" },
      { form: "pain.001.001.03" },
      { form: "csv", columns: COLUMNS },
    ]) {
      expect(placesOf(given), JSON.stringify(given)).to.not.deep.equal(places);
    }
  });

  for (const [given, problem] of [
    [{ bankCode: "99" }, /^bankCode must be the 2 digits/],
    [{ branchCode: "1" }, /^branchCode must be the 3 digits/],
    [{ account: "" }, /^account is required/],
    [{ holder: "é" }, /^holder must be letters/],
    [{ place: undefined }, /^place is missing/],
    [{ bic: "KCBLUGKX" }, /^bic must be a BIC of Kenya/],
    [{ customerId: "a b" }, /^customerId must be/],
    [{ form: "mt101" }, /^form must be one of/],
    [{ form: "csv" }, /^columns must be given with the form csv/],
    [{ columns: COLUMNS }, /^columns must be given with the form csv/],
    [{ form: "csv", columns: COLUMNS.slice(1) }, /^columns must have columns with reference/],
    [{ form: "csv", columns: Array.from({ length: 41 }, () => COLUMNS[0]) }, /^columns must have at most 40/],
    [{ form: "csv", columns: [...COLUMNS, { name: "x" }] }, /^columns.3 must have value, or text/],
    [{ form: "csv", columns: [...COLUMNS, { name: "x", value: "pin" }] }, /^columns.3.value must be one of/],
    [{ form: "csv", columns: COLUMNS, bic: "KCBLKENX" }, /^bic must be absent with the form csv/],
    [{ form: "csv", columns: COLUMNS, customerId: "1" }, /^customerId must be absent with the form csv/],
    [{ form: "csv", columns: [...COLUMNS, COLUMNS[0]] }, /^columns must have columns whose names differ/],
    [{ limits: { min: "2.00", max: "1.00" } }, /^limits must have a min/],
    [{ password: "x" }, /^password is not a field/],
  ] as const) {
    it(`refuses the settings ${JSON.stringify(given).slice(0, 60)}`, () => {
      const problems = BANK.settingsProblems({ ...SETTINGS, ...given });
      expect(problems.join("\n")).to.match(problem);
    });
  }
});
