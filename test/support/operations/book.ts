import type { Decider } from "../../../src/domain/proposal.js";
import type { ReserveRule } from "../../../src/domain/reserve.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { ApiKeyId, OrganizationId, ProposalId } from "../../../src/domain/values/ids.js";
import { parseMonth } from "../../../src/domain/values/month.js";
import { parseNairobiDay } from "../../../src/domain/values/nairobi-day.js";
import { NO_REASON } from "../../../src/domain/values/text.js";
import { formOf } from "../bank-files.js";
import { ALONE, build, buildByPerson, type CommandOf, type Given } from "../commands.js";
import { EARLIER, newId, NOW, ORGANIZATION, TEST_ACTOR, valid } from "../names.js";
import { headWith } from "./before.js";
import type { OperationRows } from "./row.js";

export function suspension<Name extends "suspendOrganization" | "resumeOrganization">(
  name: Name,
  organizationId: OrganizationId,
): CommandOf<Name> {
  return buildByPerson(name, organizationId, {} as Parameters<typeof buildByPerson<Name>>[2]);
}

export function requireReceipts(organizationId: OrganizationId, isRequired = true): CommandOf<"requireReceipts"> {
  return buildByPerson("requireReceipts", organizationId, { isRequired });
}

export function createApiKey(
  organizationId: OrganizationId,
  given: Given<"createApiKey"> = {},
): CommandOf<"createApiKey"> {
  const newKeyId = newId("key") as ApiKeyId;
  return build("createApiKey", organizationId, {
    authority: ALONE,
    newKeyId,
    label: "till",
    scopes: ["accounts:read"],
    expiresAt: undefined,
    secretSha256: newKeyId,
    ...given,
  });
}

export function revokeApiKey(organizationId: OrganizationId, keyId: ApiKeyId): CommandOf<"revokeApiKey"> {
  return build("revokeApiKey", organizationId, { authority: ALONE, keyId });
}

/** Rejects a proposal whose subject is its id, unless told otherwise. */
export function rejectProposal(
  organizationId: OrganizationId,
  proposalId: ProposalId,
  subject: string = proposalId,
): CommandOf<"rejectProposal"> {
  const person = TEST_ACTOR as string as Decider;
  return build("rejectProposal", organizationId, { person, note: NO_REASON, proposalId, subject });
}

/** Records what lies in a place at the end of a day. */
export function recordReserve(
  organizationId: OrganizationId,
  place: string,
  given: Given<"recordReserve"> = {},
): CommandOf<"recordReserve"> {
  const asOfDay = valid(parseNairobiDay("2026-11-01"));
  const kind = { kind: "other", documentSha256: undefined, maturesOn: undefined } as const;
  const figure = { place, amountCents: toCents(100), asOfDay, evidence: "statement", ...kind };
  return buildByPerson("recordReserve", organizationId, { ...figure, ...given });
}

/** Keeps how the statements of a place are read. */
export function setReservePlace(
  organizationId: OrganizationId,
  place: string,
  given: Given<"setReservePlace"> = {},
): CommandOf<"setReservePlace"> {
  return buildByPerson("setReservePlace", organizationId, { place, form: formOf({}), ...given });
}

export function setReserveRules(
  organizationId: OrganizationId,
  rules: CommandOf<"setReserveRules">["rules"],
  given: Given<"setReserveRules"> = {},
): CommandOf<"setReserveRules"> {
  return buildByPerson("setReserveRules", organizationId, { rules, ...given });
}

/** Closes a month whose pack has one file. */
export function closeMonth(organizationId: OrganizationId, given: Given<"closeMonth"> = {}): CommandOf<"closeMonth"> {
  const closed = { month: valid(parseMonth("2026-10")), lastSeq: 1, kept: { "manifest.json": "{}" } };
  return build("closeMonth", organizationId, { authority: ALONE, closed, note: NO_REASON, ...given });
}

const rule: ReserveRule = { kind: "bank_kenya", shareMin: 20, staleAfterDays: 7 };
const figure = { kind: "bank_kenya", documentSha256: undefined, maturesOn: undefined } as const;
const earlierFigure = {
  ...figure,
  asOfDay: valid(parseNairobiDay("2026-10-31")),
  evidence: "statement 9",
} as const;
const placeWith = (amount: number) => ({
  reservePlaces: [
    {
      ...earlierFigure,
      organizationId: ORGANIZATION,
      place: "KCB 1",
      amountCents: toCents(amount),
      statementForm: undefined,
      recordedAt: EARLIER,
      seq: 1,
    },
  ],
});

/** The operations on an organization, its keys, its proposals and its reserve. */
export const ON_BOOKS = {
  requireReceipts: {
    example: ({ organizationId }) => requireReceipts(organizationId),
    proposed: {
      rows: headWith({ receiptsRequiredSeq: 8 }),
      command: requireReceipts(ORGANIZATION, false),
      shown: ["receipt of a direct mint: required since row 8 > not required"],
      changed: [
        headWith({ receiptsRequiredSeq: 12 }),
        "receipt of a direct mint",
        "required since row 8",
        "required since row 12",
      ],
      thereAndBack: [requireReceipts(ORGANIZATION, false), requireReceipts(ORGANIZATION, true)],
    },
  },
  suspendOrganization: { example: ({ organizationId }) => suspension("suspendOrganization", organizationId) },
  resumeOrganization: {
    example: ({ organizationId }) => suspension("resumeOrganization", organizationId),
    proposed: {
      rows: headWith({ suspendedSeq: 8 }),
      command: suspension("resumeOrganization", ORGANIZATION),
      shown: ["calls: refused since row 8 > allowed"],
      changed: [headWith({ suspendedSeq: 12 }), "calls", "refused since row 8", "refused since row 12"],
      thereAndBack: [suspension("resumeOrganization", ORGANIZATION), suspension("suspendOrganization", ORGANIZATION)],
    },
  },
  createApiKey: {
    example: ({ organizationId }) =>
      createApiKey(organizationId, { newKeyId: "key_1" as ApiKeyId, secretSha256: "a".repeat(64) }),
    proposed: {
      rows: {},
      command: createApiKey(ORGANIZATION, { scopes: ["accounts:write", "accounts:read"] }),
      shown: ["API key:  > till", "scopes:  > accounts:write, accounts:read", "expires:  > never"],
      thereAndBack: "it is new",
    },
    alsoProposed: [
      {
        about: "that ends",
        rows: {},
        command: createApiKey(ORGANIZATION, { scopes: ["transactions:write"], expiresAt: NOW }),
        shown: ["API key:  > till", "scopes:  > transactions:write", "expires:  > 2023-11-14T22:14:20.000Z"],
      },
    ],
  },
  revokeApiKey: { example: ({ organizationId, of }) => revokeApiKey(organizationId, of("createApiKey").newKeyId) },
  rejectProposal: { example: ({ organizationId, proposalId }) => rejectProposal(organizationId, proposalId) },
  recordReserve: {
    example: ({ organizationId }) => recordReserve(organizationId, "KCB 1234"),
    proposed: {
      rows: placeWith(100),
      command: recordReserve(ORGANIZATION, "KCB 1", { ...figure, amountCents: toCents(41_050_100) }),
      shown: [
        "place: KCB 1 > KCB 1",
        "amount: 1.00 KES > 410,501.00 KES",
        "end of the day: 2026-10-31 > 2026-11-01",
        "shown by: statement 9 > statement",
        "kind: bank kenya > bank kenya",
      ],
      changed: [placeWith(200), "amount", "1.00 KES", "2.00 KES"],
      thereAndBack: [
        recordReserve(ORGANIZATION, "KCB 1", { ...earlierFigure, amountCents: toCents(9_900) }),
        recordReserve(ORGANIZATION, "KCB 1", { ...earlierFigure, amountCents: toCents(100) }),
      ],
    },
  },
  setReservePlace: { example: ({ organizationId }) => setReservePlace(organizationId, "KCB 1234") },
  setReserveRules: {
    example: ({ organizationId }) =>
      setReserveRules(organizationId, [{ kind: "cash", shareMax: 5, staleAfterDays: 1 }]),
    proposed: {
      rows: {},
      command: setReserveRules(ORGANIZATION, [rule, { ...rule, shareMin: undefined, shareMax: 90, daysMax: 30 }]),
      shown: [
        "bank kenya:  > at least 20 % of the reserve, figures of the last 7 days; " +
          "at most 90 % of the reserve, matures within 30 days, figures of the last 7 days",
      ],
      changed: [
        headWith({ reserveRules: '[{"kind":"bank_kenya","share_max":50,"stale_after_days":1}]' }),
        "bank kenya",
        "",
        "at most 50 % of the reserve, figures of the last 1 days",
      ],
      thereAndBack: [setReserveRules(ORGANIZATION, [rule]), setReserveRules(ORGANIZATION, [])],
    },
  },
  closeMonth: { example: ({ organizationId }) => closeMonth(organizationId) },
} satisfies Partial<OperationRows>;
