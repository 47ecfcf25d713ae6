import { expect } from "chai";

import { type RailAccountRecord, refusedCredentialOf, type StandingWarnings } from "../../src/domain/rail-account.js";
import { type RailFinding, readWarning, withWarnings } from "../../src/domain/rail-warning.js";
import { toCents } from "../../src/domain/values/cents.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { railAccount } from "../support/given.js";
import { NOW, ORGANIZATION } from "../support/names.js";

const DAY_MILLIS = 86_400_000;
const inDays = (days: number) => toUnixMillis(NOW + days * DAY_MILLIS);

type Step = readonly [
  given: Partial<RailAccountRecord>,
  finding: RailFinding,
  rows: readonly string[],
  standing: readonly string[],
];

const float = { floatMinCents: toCents(1_000) };
const locked = { payouts: "closed", payoutsReason: "8006" } as const;

describe("the warnings of an account at a rail", () => {
  it("name the credential that the rail has refused", () => {
    const refused = { CREDENTIALS_REFUSED: { credential: "initiator" } };
    const named = [{}, refused].map((warnings) => refusedCredentialOf({ warnings }));
    expect(named).to.deep.equal([undefined, "initiator"]);
  });

  for (const [what, steps] of [
    [
      "say FLOAT_LOW below the minimum, until 120 % of it are there",
      [
        [float, {}, [], []],
        [float, { availableCents: 1_000 }, [], []],
        [float, { availableCents: 999 }, ["rail.warned"], ["FLOAT_LOW"]],
        [float, { availableCents: -5 }, [], ["FLOAT_LOW"]],
        [float, { availableCents: 1_199 }, [], ["FLOAT_LOW"]],
        [float, {}, [], ["FLOAT_LOW"]],
        [float, { availableCents: 1_200 }, ["rail.cleared"], []],
      ],
    ],
    [
      "say nothing of a float without a minimum, and end with it",
      [
        [{}, { availableCents: -5 }, [], []],
        [float, { availableCents: 0 }, ["rail.warned"], ["FLOAT_LOW"]],
        [{ floatMinCents: 0 }, {}, ["rail.cleared"], []],
      ],
    ],
    [
      "say CREDENTIALS_EXPIRE 14, 7, 3 and 1 days before, once each, until a later date is set",
      [
        [{ credentialsExpireAt: inDays(14.1) }, {}, [], []],
        [{ credentialsExpireAt: inDays(14) }, {}, ["rail.warned"], ["CREDENTIALS_EXPIRE"]],
        [{ credentialsExpireAt: inDays(14) }, {}, [], ["CREDENTIALS_EXPIRE"]],
        // Another date that is near, too.
        [{ credentialsExpireAt: inDays(7) }, {}, ["rail.warned"], ["CREDENTIALS_EXPIRE"]],
        [{ credentialsExpireAt: inDays(20) }, {}, ["rail.cleared"], []],
        [{ credentialsExpireAt: inDays(-1) }, {}, ["rail.warned"], ["CREDENTIALS_EXPIRE"]],
        [{ credentialsExpireAt: undefined }, {}, ["rail.cleared"], []],
      ],
    ],
    [
      "say INITIATOR_LOCKED until a person opens payouts",
      [
        [locked, { lockedCode: "8006" }, ["rail.warned", "rail.warned"], ["INITIATOR_LOCKED", "PAYOUTS_HELD"]],
        [locked, { lockedCode: "8006" }, [], ["INITIATOR_LOCKED", "PAYOUTS_HELD"]],
        [locked, {}, [], ["INITIATOR_LOCKED", "PAYOUTS_HELD"]],
        [{ payouts: "auto" }, {}, ["rail.cleared", "rail.cleared"], []],
      ],
    ],
    [
      "say PAYOUTS_HELD while a person has closed payouts, or too many outcomes are unknown",
      [
        [{}, { unknownPayouts: 0 }, [], []],
        [{}, { unknownPayouts: 2 }, ["rail.warned"], ["PAYOUTS_HELD"]],
        [{}, { unknownPayouts: 3 }, [], ["PAYOUTS_HELD"]],
        [{}, {}, [], ["PAYOUTS_HELD"]],
        // Another reason.
        [{ payouts: "closed" }, {}, ["rail.warned"], ["PAYOUTS_HELD"]],
        [{ payouts: "closed" }, { unknownPayouts: 0 }, [], ["PAYOUTS_HELD"]],
        [{}, {}, ["rail.cleared"], []],
        [{}, { unknownPayouts: 2 }, ["rail.warned"], ["PAYOUTS_HELD"]],
        [{}, { unknownPayouts: 0 }, ["rail.cleared"], []],
        [{}, { unknownPayouts: 2 }, ["rail.warned"], ["PAYOUTS_HELD"]],
        [{ payouts: "open" }, {}, ["rail.cleared"], []],
      ],
    ],
    [
      "say CREDENTIALS_REFUSED once, until another one has worked, or a person opens payouts; the app's is worse",
      [
        [
          {},
          { refusedCredential: { credential: "initiator", code: "2001" } },
          ["rail.warned"],
          ["CREDENTIALS_REFUSED"],
        ],
        [{}, { refusedCredential: { credential: "initiator", code: "21" } }, [], ["CREDENTIALS_REFUSED"]],
        [{}, { isQuiet: true, unknownPayouts: 0 }, [], ["CREDENTIALS_REFUSED"]],
        [
          {},
          { refusedCredential: { credential: "app", code: "400.008.01" } },
          ["rail.warned"],
          ["CREDENTIALS_REFUSED"],
        ],
        [{}, { refusedCredential: { credential: "initiator", code: "2001" } }, [], ["CREDENTIALS_REFUSED"]],
        // Another one was set, which is tried once.
        [{}, { isSet: true }, ["rail.warned"], ["CREDENTIALS_REFUSED"]],
        [{}, { isSet: true }, [], ["CREDENTIALS_REFUSED"]],
        [
          {},
          { refusedCredential: { credential: "initiator", code: "2001" } },
          ["rail.warned"],
          ["CREDENTIALS_REFUSED"],
        ],
        [{}, { isSet: true }, ["rail.warned"], ["CREDENTIALS_REFUSED"]],
        [{}, { isProven: true }, ["rail.cleared"], []],
        [
          {},
          { refusedCredential: { credential: "initiator", code: "2001" } },
          ["rail.warned"],
          ["CREDENTIALS_REFUSED"],
        ],
        [{}, { isOpened: true }, ["rail.cleared"], []],
      ],
    ],
    [
      "say REQUESTS_REFUSED once, until no request was refused for an hour, or a person has set the account",
      [
        [{}, { refusedRequest: { request: "/b2c", code: "401.003.01" } }, ["rail.warned"], ["REQUESTS_REFUSED"]],
        [{}, { refusedRequest: { request: "/status", code: "401.003.01" } }, [], ["REQUESTS_REFUSED"]],
        [{}, { isQuiet: false, unknownPayouts: 0 }, [], ["REQUESTS_REFUSED"]],
        [{}, { isQuiet: true, unknownPayouts: 0 }, ["rail.cleared"], []],
        [{}, { refusedRequest: { request: "/b2c", code: "401.003.01" } }, ["rail.warned"], ["REQUESTS_REFUSED"]],
        [{}, { isSet: true }, ["rail.cleared"], []],
      ],
    ],
    [
      "stand beside each other",
      [
        [float, { unknownPayouts: 1 }, ["rail.warned"], ["PAYOUTS_HELD"]],
        [float, { availableCents: 0 }, ["rail.warned"], ["FLOAT_LOW", "PAYOUTS_HELD"]],
        [{ ...float, payouts: "open" }, { availableCents: 5_000 }, ["rail.cleared", "rail.cleared"], []],
      ],
    ],
  ] as const satisfies readonly (readonly [string, readonly Step[]])[]) {
    it(what, () => {
      let warnings: StandingWarnings = {};
      for (const [given, finding, kinds, standing] of steps as readonly Step[]) {
        const before = railAccount(ORGANIZATION, { ...given, warnings });
        const { account, rows } = withWarnings(before, finding, NOW);
        expect(rows.map(({ kind }) => kind)).to.deep.equal(kinds);
        expect(Object.keys(account.warnings)).to.deep.equal(standing);
        expect(account).to.deep.equal({ ...before, warnings: account.warnings });
        warnings = account.warnings;
      }
    });
  }

  it("are read back from their rows", () => {
    const account = railAccount(ORGANIZATION, float);
    const details = withWarnings(account, { availableCents: 1 }, NOW).rows.map(({ detail }) => readWarning(detail));
    const figures = { available_cents: 1, float_min_cents: 1_000 };
    expect(details).to.deep.equal([{ rail: account.rail, code: "FLOAT_LOW", figures }]);
  });

  it("raise each step of days as time passes, with the figures", () => {
    let account = railAccount(ORGANIZATION, { credentialsExpireAt: inDays(14) });
    const raised: unknown[] = [];
    for (let hours = 0; hours <= 15 * 24; hours += 1) {
      const after = withWarnings(account, {}, toUnixMillis(NOW + hours * 3_600_000));
      raised.push(...after.rows.map(({ detail }) => [hours / 24, (JSON.parse(detail) as { days: number }).days]));
      account = after.account;
    }
    expect(raised).to.deep.equal([
      [0, 14],
      [7, 7],
      [11, 3],
      [13, 1],
    ]);
    const figures = { expire_at: inDays(14), days: 1 };
    expect(account.warnings).to.deep.equal({ CREDENTIALS_EXPIRE: figures });
  });
});
