import { readFileSync } from "node:fs";

import { typeidUnboxed } from "typeid-js";

import type { Organization } from "../../../daraja/mpesa/organization.js";
import type { RailAccountId } from "../../../src/domain/payment.js";
import type { Rail } from "../../../src/domain/transaction.js";
import type { Cents } from "../../../src/domain/values/cents.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import type { UnixMillis } from "../../../src/domain/values/time.js";
import type { Database } from "../../../src/storage/database.js";
import { saveRailAccount } from "../../../src/storage/rails/change-rail-accounts.js";
import { storedRailAccount } from "../../../src/storage/rails/rail-accounts.js";
import { CERTIFICATE_FILE } from "../../daraja/given.js";

interface MpesaAccount {
  readonly organizationId: OrganizationId;
  /** The simulator's address. */
  readonly baseUrl: string;
  readonly organization: Organization;
  readonly now: UnixMillis;
  /** That of the simulator when omitted. */
  readonly certificatePem?: string | undefined;
  /** Zero when omitted. */
  readonly floatMinCents?: Cents | 0;
  /** Never when omitted. */
  readonly credentialsExpireAt?: UnixMillis;
}

/** Gives an organization its account at the simulator, as its default rail. */
export async function setMpesa(
  database: Database,
  { organizationId, baseUrl, organization, now, floatMinCents = 0, credentialsExpireAt, certificatePem }: MpesaAccount,
): Promise<void> {
  const { c2bVersion, shortcode, initiatorName, consumerKey, consumerSecret, passkey, initiatorPassword } =
    organization;
  const settings = {
    baseUrl,
    c2bVersion,
    collectShortcode: shortcode,
    payOutShortcode: shortcode,
    initiatorName,
    destinations: ["phone", "till"],
    limits: { business: { min: "1.00", max: "1000.00" } },
    certificatePem: certificatePem ?? readFileSync(CERTIFICATE_FILE, "utf8"),
  };
  const stored = await storedRailAccount(database.cells[0], organizationId, "mpesa");
  const setting = {
    id: stored?.id ?? (typeidUnboxed("rail") as string as RailAccountId),
    organizationId,
    rail: "mpesa" as Rail,
    settings: JSON.stringify(settings),
    credentials: JSON.stringify({ consumerKey, consumerSecret, passkey, initiatorPassword }),
    credentialsExpireAt,
    isDefault: true,
    beginWithinMillis: 120_000,
    confirmAboveCents: 0 as const,
    resolveAloneMaxCents: 0 as const,
    floatMinCents,
  };
  const given = { setting, cell: database.cells[0], now };
  await saveRailAccount(database, given);
}
