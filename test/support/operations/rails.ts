import type { RailAccountId } from "../../../src/domain/payment.js";
import type { RailAccountRecord } from "../../../src/domain/rail-account.js";
import { DIRECT_RAIL, type Rail } from "../../../src/domain/transaction.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import type { StatusReason } from "../../../src/domain/values/text.js";
import { build, buildByPerson, type CommandOf, type Given } from "../commands.js";
import { railAccount } from "../given.js";
import { NOW, ORGANIZATION, RAIL_TERMS, SLOW_RAIL } from "../names.js";
import { NOTHING_ALONE, ownRail } from "./before.js";
import type { OperationRows } from "./row.js";

/** Sets an account at a rail of an organization that has none. */
export function setRailAccount(
  organizationId: OrganizationId,
  given: Given<"setRailAccount"> = {},
): CommandOf<"setRailAccount"> {
  return buildByPerson("setRailAccount", organizationId, {
    railAccountId: RAIL_TERMS.railAccountId,
    rail: SLOW_RAIL,
    settings: "{}",
    credentialsHmac: undefined,
    credentialsExpireAt: undefined,
    isDefault: false,
    beginWithinMillis: 1_000,
    confirmAboveCents: 0,
    resolveAloneMaxCents: 0,
    floatMinCents: 0,
    facts: { accountsOfAll: "0:0", movesPlace: false },
    ...given,
  });
}

export function setDefaultRail(organizationId: OrganizationId, rail: Rail): CommandOf<"setDefaultRail"> {
  return buildByPerson("setDefaultRail", organizationId, { rail });
}

export function setPayouts(
  organizationId: OrganizationId,
  payouts: RailAccountRecord["payouts"],
  given: Given<"setPayouts"> = {},
): CommandOf<"setPayouts"> {
  return buildByPerson("setPayouts", organizationId, { rail: SLOW_RAIL, payouts, ...given });
}

export function watchRailAccount(
  organizationId: OrganizationId,
  given: Given<"watchRailAccount"> = {},
): CommandOf<"watchRailAccount"> {
  return build("watchRailAccount", organizationId, { rail: SLOW_RAIL, availableCents: undefined, ...given });
}

/** The rail of the examples. */
const RAIL = "made" as Rail;
const factsOf = (count: number) => ({ accountsOfAll: `${String(count)}:${String(count)}`, movesPlace: false });
const closed = { ...ownRail, payouts: "closed" } as const;

/** The operations on the accounts at rails. */
export const ON_RAILS = {
  setRailAccount: {
    repeated: "refusal",
    example: ({ organizationId }) =>
      setRailAccount(organizationId, {
        railAccountId: "rail_made" as RailAccountId,
        rail: RAIL,
        floatMinCents: toCents(1),
        facts: factsOf(1),
      }),
    proposed: {
      rows: { ...NOTHING_ALONE, railAccountsOfCells: { count: 1, revisions: 1 } },
      command: setRailAccount(ORGANIZATION, {
        settings: '{"till":"2","url":"x"}',
        credentialsHmac: "cc",
        sealed: { hex: "aa", sha256: "bb" },
        resolveAloneMaxCents: toCents(500_000),
        isDefault: true,
        facts: factsOf(1),
      }),
      shown: [
        "rail: mpesa > mpesa",
        "till: 1 > 2",
        "url:  > x",
        "credentials:  > new ones",
        "default rail: yes > yes",
        "a mint begins within: 1 seconds > 1 seconds",
        "confirmed by a query above: 0.00 KES > 0.00 KES",
        "one person resolves up to: 0.00 KES > 5,000.00 KES",
        "warning below: 0.00 KES > 0.00 KES",
        "revision of the account: 1 > 2",
      ],
      changed: [{ railAccounts: [{ ...ownRail, revision: 3 }] }, "revision of the account", "1", "3"],
      thereAndBack: [setPayouts(ORGANIZATION, "closed"), setPayouts(ORGANIZATION, "auto")],
    },
    alsoProposed: [
      {
        about: "of a new account",
        rows: { railAccountsOfCells: { count: 0, revisions: 0 } },
        command: setRailAccount(ORGANIZATION, { credentialsExpireAt: NOW, facts: factsOf(0) }),
        shown: [
          "rail:  > mpesa",
          "credentials end:  > 2023-11-14T22:14:20.000Z",
          "default rail:  > no",
          "a mint begins within:  > 1 seconds",
          "confirmed by a query above:  > 0.00 KES",
          "one person resolves up to:  > 0.00 KES",
          "warning below:  > 0.00 KES",
          "revision of the account:  > 1",
        ],
      },
      {
        about: "with the credentials that are there",
        rows: {
          railAccounts: [{ ...ownRail, credentials: { hex: "aa", sha256: "bb" } }],
          railAccountsOfCells: { count: 1, revisions: 1 },
        },
        command: setRailAccount(ORGANIZATION, { facts: factsOf(1) }),
        shown: [
          "rail: mpesa > mpesa",
          "till: 1 > ",
          "credentials: kept encrypted > ",
          "default rail: yes > no",
          "a mint begins within: 1 seconds > 1 seconds",
          "confirmed by a query above: 0.00 KES > 0.00 KES",
          "one person resolves up to: 0.00 KES > 0.00 KES",
          "warning below: 0.00 KES > 0.00 KES",
          "revision of the account: 1 > 2",
        ],
      },
    ],
  },
  setDefaultRail: {
    example: ({ organizationId }) => setDefaultRail(organizationId, RAIL),
    proposed: {
      rows: NOTHING_ALONE,
      command: setDefaultRail(ORGANIZATION, DIRECT_RAIL),
      shown: ["default rail: mpesa > direct"],
      changed: [
        { railAccounts: [railAccount(ORGANIZATION, { rail: "fast" as Rail, isDefault: true })] },
        "default rail",
        "mpesa",
        "fast",
      ],
      thereAndBack: [setDefaultRail(ORGANIZATION, DIRECT_RAIL), setDefaultRail(ORGANIZATION, ownRail.rail)],
    },
    alsoProposed: [
      {
        about: "in place of direct",
        rows: { railAccounts: [{ ...ownRail, isDefault: false }] },
        command: setDefaultRail(ORGANIZATION, ownRail.rail),
        shown: ["default rail: direct > mpesa"],
      },
    ],
  },
  setPayouts: {
    example: ({ organizationId }) => setPayouts(organizationId, "closed", { rail: RAIL }),
    proposed: {
      rows: { railAccounts: [{ ...closed, payoutsReason: "8006" }] },
      command: setPayouts(ORGANIZATION, "open"),
      shown: ["rail: mpesa > mpesa", "payouts: closed: 8006 > open", "revision of the account: 1 > 2"],
      changed: [
        { railAccounts: [{ ...closed, payoutsReason: "fraud", revision: 3 }] },
        "payouts",
        "closed: 8006",
        "closed: fraud",
      ],
      thereAndBack: [
        setPayouts(ORGANIZATION, "open"),
        setPayouts(ORGANIZATION, "closed", { note: "8006" as StatusReason }),
      ],
    },
    alsoProposed: [
      {
        about: "of an account that was closed without a reason",
        rows: { railAccounts: [closed] },
        command: setPayouts(ORGANIZATION, "open"),
        shown: ["rail: mpesa > mpesa", "payouts: closed > open", "revision of the account: 1 > 2"],
      },
    ],
  },
  watchRailAccount: {
    example: ({ organizationId }) => watchRailAccount(organizationId, { rail: RAIL, availableCents: 0 }),
  },
} satisfies Partial<OperationRows>;
