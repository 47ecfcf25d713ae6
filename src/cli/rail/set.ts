import { typeidUnboxed } from "typeid-js";

import type { RailAccountId } from "../../domain/payment.js";
import type { Cents } from "../../domain/values/cents.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { type RailAccountSource, type RailKind, WrongRailAccountError } from "../../rails/rail-kind.js";
import { railNamed } from "../../rails/rails.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import type { Database } from "../../storage/database.js";
import {
  DEFAULT_LIMITS,
  makeDirectDefault,
  type Present,
  type RailAccountSetting,
  saveRailAccount,
} from "../../storage/rails/change-rail-accounts.js";
import { type StoredRailAccount, storedRailAccounts } from "../../storage/rails/rail-accounts.js";
import { printJson, printLine } from "../commands/output.js";
import { findOwner, type FoundOwner } from "../organizations.js";
import { readCredentialsFile, readSettingsFile } from "./account-files.js";
import { accountJson } from "./account-json.js";

const WRONG_USAGE = 2;

interface SetOptions {
  readonly org: string;
  readonly default?: true;
  readonly settings?: string;
  readonly credentials?: string;
  readonly credentialsExpire?: UnixMillis;
  readonly beginWithin?: number;
  readonly confirmAbove?: Cents;
  readonly resolveAloneMax?: Cents;
  readonly json?: true;
}

/** Servers use the account within two seconds. */
export async function setRail(name: string, options: SetOptions): Promise<void> {
  const { database: address, callbacks, railHosts } = configFromEnvironment();
  const rail = railNamed(name);
  if (rail === undefined) {
    await withCurrentDatabase(address, (database) => useDirect(database, options));
    return;
  }
  const files = rail.hasCredentials ? filesOf(rail, options) : noFiles(rail, options);
  const { owner, account } = await withCurrentDatabase(address, async (database) => {
    const found = await findOwner(database, options.org);
    return { owner: found, account: await save(database, found, { rail, files, options, railHosts }) };
  });
  if (options.json === true) {
    printJson(accountJson(account));
    return;
  }
  const { organization } = owner;
  printLine(
    `Set the account of ${organization.id} ("${organization.name}") at the rail ${name}. Servers use it within two seconds.`,
  );
  printLine(
    account.isDefault
      ? "It is the default rail: calls that name no rail use it."
      : `Calls must name it. To make it the default rail: kesc rail set ${name} … --default`,
  );
  if (rail.callsBack && callbacks === undefined) {
    printLine("Servers need KESC_CALLBACK_BASE_URL and KESC_CALLBACK_SECRET_FILE for it (docs/operations.md).");
  }
}

async function useDirect(database: Database, { org, json, ...others }: SetOptions): Promise<void> {
  if (Object.keys(others).some((name) => name !== "default")) {
    throw new OperatorError("The rail direct has no settings: give --org only.", WRONG_USAGE);
  }
  const { organization, cell } = await findOwner(database, org);
  const isNew = await makeDirectDefault(cell, { organizationId: organization.id, now: now() });
  const named = `${organization.id} ("${organization.name}")`;
  if (json === true) printJson({ organization_id: organization.id, rail: "direct", is_default: true });
  else {
    printLine(
      isNew
        ? `Calls of ${named} that name no rail are direct again: their mints are credited at once.`
        : `Calls of ${named} that name no rail were direct before.`,
    );
  }
}

type Files = Pick<RailAccountSetting, "settings" | "credentials" | "credentialsExpireAt">;

function filesOf(rail: RailKind, { settings, credentials, credentialsExpire }: SetOptions): Files {
  const missing = Object.entries({ settings, credentials, "credentials-expire": credentialsExpire })
    .filter(([, value]) => value === undefined)
    .map(([name]) => `--${name}`);
  if (settings === undefined || credentials === undefined || credentialsExpire === undefined) {
    throw new OperatorError(`The rail ${rail.name} needs ${missing.join(" and ")} (docs/operations.md).`, WRONG_USAGE);
  }
  if (credentialsExpire <= now()) {
    throw new OperatorError("--credentials-expire is in the past. Set a new password first.", WRONG_USAGE);
  }
  return {
    settings: readSettingsFile(rail, settings),
    credentials: readCredentialsFile(rail, credentials),
    credentialsExpireAt: credentialsExpire,
  };
}

function noFiles({ name }: RailKind, { settings, credentials, credentialsExpire }: SetOptions): Files {
  if (settings !== undefined || credentials !== undefined || credentialsExpire !== undefined) {
    throw new OperatorError(`The rail ${name} takes neither --settings nor --credentials.`, WRONG_USAGE);
  }
  return { settings: "{}", credentials: undefined, credentialsExpireAt: undefined };
}

interface GivenRail {
  readonly rail: RailKind;
  readonly files: Files;
  readonly options: SetOptions;
  readonly railHosts: readonly string[];
}

async function save(
  database: Database,
  { organization, cell }: FoundOwner,
  { rail, files, options, railHosts: hosts }: GivenRail,
): Promise<StoredRailAccount> {
  const isOwn = (account: StoredRailAccount): boolean =>
    account.organizationId === organization.id && account.rail === rail.name;
  const earlier = (await storedRailAccounts(cell)).find(isOwn);
  const setting: RailAccountSetting = {
    id: earlier?.id ?? (typeidUnboxed("rail") as string as RailAccountId),
    organizationId: organization.id,
    rail: rail.name,
    ...files,
    // A new password must not make mints direct.
    isDefault: options.default ?? earlier?.isDefault ?? false,
    beginWithinMillis: options.beginWithin ?? earlier?.beginWithinMillis ?? DEFAULT_LIMITS.beginWithinMillis,
    confirmAboveCents: options.confirmAbove ?? earlier?.confirmAboveCents ?? DEFAULT_LIMITS.confirmAboveCents,
    resolveAloneMaxCents:
      options.resolveAloneMax ?? earlier?.resolveAloneMaxCents ?? DEFAULT_LIMITS.resolveAloneMaxCents,
  };
  refuseUnusable(rail, { ...setting, isSandbox: organization.isSandbox }, hosts);
  await saveRailAccount(database, { setting, cell, now: now() }, (present) => {
    if (present.paymentsUnderWay > 0) refuseOtherAccount(setting, present);
    refuseTaken(setting, present);
  });
  const saved = (await storedRailAccounts(cell)).find(isOwn);
  if (saved === undefined) throw new Error(`the account ${setting.id} was not stored`);
  return saved;
}

/** Makes the rail, as a server would. */
function refuseUnusable(rail: RailKind, account: RailAccountSource, hosts: readonly string[]): void {
  try {
    const callbackUrl = (): string => "";
    rail.open(account, { now, monotonicMillis: () => performance.now(), callbackUrl, hosts });
  } catch (error) {
    if (!(error instanceof WrongRailAccountError)) throw error;
    throw new OperatorError(error.message, WRONG_USAGE);
  }
}

function placesOf({ rail, settings }: Pick<StoredRailAccount, "rail" | "settings">): readonly string[] {
  return railNamed(rail)?.read(settings)?.places ?? [];
}

/** Refuses another place while the rail may have payments: the new place does not know these. */
function refuseOtherAccount(setting: RailAccountSetting, { all, paymentsUnderWay }: Present): void {
  const earlier = all.find(({ id }) => id === setting.id);
  if (earlier === undefined || placesOf(setting).join() === placesOf(earlier).join()) return;
  throw new OperatorError(
    `Payments of ${earlier.id} are under way: ${String(paymentsUnderWay)}. ${placesOf(setting).join(", ")} would not know them. ` +
      "Wait until they have ended: kesc rail status --org ORG",
  );
}

/** Two organizations at one place would each count the other's shillings as its own. */
function refuseTaken(setting: RailAccountSetting, { all }: Present): void {
  const own = placesOf(setting);
  for (const other of all) {
    const taken = other.id === setting.id ? undefined : placesOf(other).find((place) => own.includes(place));
    if (taken !== undefined) {
      throw new OperatorError(`The ${taken} belongs to ${other.organizationId} already.`);
    }
  }
}
