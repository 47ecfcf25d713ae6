import { status as Status } from "@grpc/grpc-js";

import type { DestinationNumber } from "../../../src/domain/destination.js";
import { type LimitChanges, parseTierName } from "../../../src/domain/limits/limits.js";
import type { TransactionType } from "../../../src/domain/transaction.js";
import { toCents } from "../../../src/domain/values/cents.js";
import { NO_EMAIL } from "../../../src/domain/values/email-address.js";
import type { AccountId, DestinationId, FreezeId, OrganizationId } from "../../../src/domain/values/ids.js";
import type { PhoneNumber } from "../../../src/domain/values/phone-number.js";
import { type Description, NO_REASON, parseUserId, type StatusReason } from "../../../src/domain/values/text.js";
import { build, buildByPerson, type CommandOf, type Given, type Keyed, keyOf } from "../commands.js";
import { givenAccount, givenFreeze } from "../given.js";
import { EARLIER, newAccountId, newDestinationId, newFreezeId, ORGANIZATION, valid } from "../names.js";
import { account, headWith } from "./before.js";
import type { OperationRows } from "./row.js";
import { fresh } from "./things.js";

export function createAccount(
  organizationId: OrganizationId,
  userId: string,
  { key, ...given }: Keyed<"createAccount"> = {},
): CommandOf<"createAccount"> {
  return build("createAccount", organizationId, {
    newAccountId: newAccountId(),
    userId: valid(parseUserId(userId)),
    phoneNumber: "+254712345678" as PhoneNumber,
    email: NO_EMAIL,
    depositReferences: [],
    idempotencyKey: keyOf(key),
    ...given,
  });
}

export function freezeAccount(
  organizationId: OrganizationId,
  accountId: AccountId,
  { key, ...given }: Keyed<"freezeAccount"> = {},
): CommandOf<"freezeAccount"> {
  const why = { reason: "FRAUD", note: NO_REASON } as const;
  const fields = { newFreezeId: newFreezeId(), accountId, ...why, idempotencyKey: keyOf(key) };
  return build("freezeAccount", organizationId, { ...fields, ...given });
}

export function unfreezeAccount(
  organizationId: OrganizationId,
  accountId: AccountId,
  freezeId: FreezeId,
): CommandOf<"unfreezeAccount"> {
  return buildByPerson("unfreezeAccount", organizationId, { accountId, freezeId });
}

/** A till, unless told otherwise. */
export function createDestination(
  organizationId: OrganizationId,
  accountId: AccountId,
  { key, ...given }: Keyed<"createDestination"> = {},
): CommandOf<"createDestination"> {
  return build("createDestination", organizationId, {
    newDestinationId: newDestinationId(),
    accountId,
    kind: "TILL",
    number: "5432321" as DestinationNumber,
    label: "rent" as Description,
    railName: undefined,
    coolingMillis: 3_600_000,
    idempotencyKey: keyOf(key),
    ...given,
  });
}

export function removeDestination(
  organizationId: OrganizationId,
  accountId: AccountId,
  destinationId: DestinationId,
): CommandOf<"removeDestination"> {
  return build("removeDestination", organizationId, { accountId, destinationId });
}

export function revealAccount(
  organizationId: OrganizationId,
  accountId: AccountId,
  given: Given<"revealAccount"> = {},
): CommandOf<"revealAccount"> {
  const why = { reason: "customer_called", note: "case 17" as StatusReason } as const;
  return build("revealAccount", organizationId, { accountId, ...why, ...given });
}

export function updateAccount(
  organizationId: OrganizationId,
  accountId: AccountId,
  changes: Given<"updateAccount"> = { phoneNumber: "+254733111222" as PhoneNumber },
): CommandOf<"updateAccount"> {
  const unchanged = { phoneNumber: undefined, email: undefined, etag: undefined, isOfOperator: false };
  return build("updateAccount", organizationId, { accountId, ...unchanged, ...changes });
}

export function closeAccount(organizationId: OrganizationId, accountId: AccountId): CommandOf<"closeAccount"> {
  return build("closeAccount", organizationId, { accountId, note: NO_REASON, etag: undefined });
}

export function eraseAccount(organizationId: OrganizationId, accountId: AccountId): CommandOf<"eraseAccount"> {
  return buildByPerson("eraseAccount", organizationId, { accountId });
}

/** Sets limits of mints, unless told otherwise: those of the organization, or those of a tier. */
export function setLimits(
  organizationId: OrganizationId,
  {
    tier,
    type = "MINT",
    changes,
  }: {
    readonly tier?: string | undefined;
    readonly type?: TransactionType;
    /** Undefined removes them all. */
    readonly changes: LimitChanges["MINT"] | undefined;
  },
): CommandOf<"setLimits"> {
  return buildByPerson("setLimits", organizationId, {
    tier: tier === undefined ? undefined : valid(parseTierName(tier)),
    changes: changes === undefined ? undefined : { MINT: {}, REDEEM: {}, [type]: changes },
  });
}

export function setAccountTier(
  organizationId: OrganizationId,
  accountId: AccountId,
  tier = "small",
): CommandOf<"setAccountTier"> {
  return buildByPerson("setAccountTier", organizationId, { accountId, tier: valid(parseTierName(tier)) });
}

const frozen = givenAccount({ status: "FROZEN" });
const empty = givenAccount({ availableCents: toCents(0), heldCents: toCents(0) });
const freezes = [
  givenFreeze({ accountId: frozen.id, reason: "FRAUD", note: "case 7" as StatusReason }),
  givenFreeze({ accountId: frozen.id, reason: "CUSTOMER_REQUEST" }),
] as const;
const later = newFreezeId();
const limitsWith = (perMint: number, perDay = 10_000) =>
  headWith({
    limits: {
      organization: { MINT: { TRANSACTION: toCents(perMint) }, REDEEM: {} },
      tiers: new Map(
        [
          ["small", perDay],
          ["gold", 1_000_000],
        ].map(([tier, day]) => [
          valid(parseTierName(String(tier))),
          { MINT: { DAY: toCents(Number(day)) }, REDEEM: {} },
        ]),
      ),
      since: EARLIER,
      usage: undefined,
    },
  });

/** The operations on accounts and their limits. */
export const ON_ACCOUNTS = {
  createAccount: {
    inSuspension: "nobody",
    example: ({ organizationId }) => createAccount(organizationId, "user", { key: "account" }),
    rpc: { request: () => ({ user_id: fresh(), phone_number: "0712345678" }) },
  },
  updateAccount: {
    inSuspension: "operators",
    changes: "account.updated",
    example: ({ organizationId, leavingId }) => updateAccount(organizationId, leavingId),
    rpc: { request: ({ account_id }) => ({ account_id, phone_number: "0733111222" }) },
  },
  freezeAccount: {
    inSuspension: "operators",
    changes: "account.frozen",
    example: ({ organizationId, accountId }) => freezeAccount(organizationId, accountId, { key: "freeze" }),
    rpc: { request: ({ frozen_id }) => ({ account_id: frozen_id, reason: 3 }) },
  },
  unfreezeAccount: {
    inSuspension: "operators",
    changes: "account.unfrozen",
    example: ({ organizationId, accountId, of }) =>
      unfreezeAccount(organizationId, accountId, of("freezeAccount").newFreezeId),
    rpc: { request: ({ frozen_id, freeze_id }) => ({ account_id: frozen_id, freeze_id }) },
    proposed: {
      rows: { accounts: [frozen], freezes: [freezes[0]] },
      command: unfreezeAccount(ORGANIZATION, frozen.id, freezes[0].id),
      shown: ["freeze: fraud: case 7 > lifted", "account: frozen > active"],
      changed: [{ freezes }, "other freezes", "", "customer request"],
      thereAndBack: [
        freezeAccount(ORGANIZATION, frozen.id, { newFreezeId: later }),
        unfreezeAccount(ORGANIZATION, frozen.id, later),
      ],
    },
  },
  createDestination: {
    example: ({ organizationId, accountId }) => createDestination(organizationId, accountId, { key: "destination" }),
    rpc: { request: ({ account_id }) => ({ account_id, kind: 2, number: "5432322" }) },
  },
  removeDestination: {
    example: ({ organizationId, accountId, of }) =>
      removeDestination(organizationId, accountId, of("createDestination").newDestinationId),
    rpc: {
      request: ({ account_id, spare_destination_id }) => ({ account_id, destination_id: spare_destination_id }),
    },
  },
  revealAccount: {
    repeated: "effect",
    example: ({ organizationId, accountId }) => revealAccount(organizationId, accountId),
  },
  closeAccount: {
    inSuspension: "operators",
    changes: "account.closed",
    example: ({ organizationId, leavingId }) => closeAccount(organizationId, leavingId),
    // The account has money.
    rpc: { request: ({ account_id }) => ({ account_id }), code: Status.FAILED_PRECONDITION },
  },
  eraseAccount: {
    inSuspension: "everybody",
    changes: "account.erased",
    example: ({ organizationId, leavingId }) => eraseAccount(organizationId, leavingId),
    proposed: {
      rows: { accounts: [empty] },
      command: eraseAccount(ORGANIZATION, empty.id),
      shown: ["personal data: kept, encrypted > erased for ever", "account: active > active"],
      changed: [{ accounts: [{ ...empty, status: "FROZEN" }] }, "account", "active", "frozen"],
      thereAndBack: [
        freezeAccount(ORGANIZATION, empty.id, { newFreezeId: later }),
        unfreezeAccount(ORGANIZATION, empty.id, later),
      ],
    },
  },
  setLimits: {
    inSuspension: "everybody",
    example: ({ organizationId }) => setLimits(organizationId, { tier: "small", changes: { DAY: toCents(100_000) } }),
    proposed: {
      rows: limitsWith(100_000),
      command: setLimits(ORGANIZATION, { changes: { TRANSACTION: toCents(9_000_000), DAY: "NONE" } }),
      shown: [
        "organization: one mint: 1,000.00 KES > 90,000.00 KES",
        "organization: mints of a day: no limit > no limit",
      ],
      changed: [limitsWith(1_000), "organization: one mint", "1,000.00 KES", "10.00 KES"],
      thereAndBack: [
        setLimits(ORGANIZATION, { changes: { TRANSACTION: toCents(5_000_000) } }),
        setLimits(ORGANIZATION, { changes: { TRANSACTION: toCents(100_000) } }),
      ],
    },
  },
  setAccountTier: {
    inSuspension: "everybody",
    changes: "account.tiered",
    example: ({ organizationId, payerId }) => setAccountTier(organizationId, payerId),
    proposed: {
      rows: { ...limitsWith(1), accounts: [account] },
      command: { ...setAccountTier(ORGANIZATION, account.id, "gold"), note: "verified" as StatusReason },
      shown: ["tier: small > gold", "account: mints of a day: 100.00 KES > 10,000.00 KES", "reason:  > verified"],
      changed: [limitsWith(1, 5_000), "account: mints of a day", "100.00 KES", "50.00 KES"],
      thereAndBack: [
        setAccountTier(ORGANIZATION, account.id, "gold"),
        setAccountTier(ORGANIZATION, account.id, "small"),
      ],
    },
  },
} satisfies Partial<OperationRows>;
