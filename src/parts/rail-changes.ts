import { typeidUnboxed } from "typeid-js";

import { Turns } from "../../runtime/turns.js";
import type { RailAccountId } from "../domain/payment.js";
import { contentFrom } from "../domain/proposal-content.js";
import type { SetRailAccount } from "../domain/rails/change-rail-accounts.js";
import type { OrganizationId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { AskedRailAccount, RailAccountProblem, RailChanges, RailOwner } from "../operators/rails.js";
import { parseFields } from "../rails/fields.js";
import { type RailKind, WrongRailAccountError } from "../rails/rail-kind.js";
import { railNamed, RAILS } from "../rails/rails.js";
import { cellOf, type Database } from "../storage/database.js";
import {
  DEFAULT_LIMITS,
  fieldsOfSetting,
  type RailAccountSetting,
  stateOfAccounts,
} from "../storage/rails/change-rail-accounts.js";
import {
  hmacOfCredentials,
  openCredentials,
  type StoredRailAccount,
  storedRailAccount,
} from "../storage/rails/rail-accounts.js";
import { credentialsTrial, type TrialOptions } from "./credentials-trial.js";

type RailChangesOptions = TrialOptions;

/** Another change of an account may come between the look at all accounts and the commit. */
const TRIES_MAX = 5;
// As many as the queue of operators has room for.
const WAITING_MAX = 64;

/** Implements the port `RailChanges`. */
export function railChanges(database: Pick<Database, "cells">, options: RailChangesOptions): RailChanges {
  const keysOf = async (organization: RailOwner) => {
    const { directory, reader } = cellOf(database, organization);
    return (await directory.book(organization.id, ({ sql, bindings }) => reader.rows(sql, bindings))).keys;
  };
  // Changes at once would make each other stale, and each of them tries a few times only.
  const turns = new Turns<OrganizationId>({ runningMax: 1, waitingMax: WAITING_MAX, failsAll: () => false });
  return {
    async prepare(organization, asked) {
      const rail = railNamed(asked.rail);
      if (rail === undefined) {
        const problem = `must be one of ${RAILS.map(({ name }) => name).join(", ")}`;
        return { ok: false, problems: [{ field: "rail", problem }] };
      }
      const problems = problemsOf(rail, asked, options.now());
      if (problems.length > 0) return { ok: false, problems };
      const earlier = await storedRailAccount(cellOf(database, organization), organization.id, asked.rail);
      const setting = settingOf(organization, asked, earlier);
      const refused = unusable(rail, { ...setting, isSandbox: organization.isSandbox }, options);
      if (refused.length > 0) return { ok: false, problems: refused };
      return { ok: true, value: fieldsOfSetting(await keysOf(organization), setting) };
    },
    async submit(organization, command, submit) {
      const attempt = async () => {
        const { all, accountsOfAll } = await stateOfAccounts(database);
        const taken = takenPlace(command, all);
        if (taken !== undefined) return { kind: "refused", refusal: taken } as const;
        const earlier = all.find(({ id }) => id === command.railAccountId);
        const movesPlace = earlier !== undefined && placesOf(command).join() !== placesOf(earlier).join();
        return submit({ ...command, facts: { accountsOfAll, movesPlace } });
      };
      for (let tries = 1; ; tries += 1) {
        const outcome = await turns.run(organization.id, attempt);
        if (outcome === undefined) return { kind: "refused", refusal: { reason: "QUEUE_FULL" } };
        const isStale = outcome.kind === "refused" && outcome.refusal?.reason === "RAIL_ACCOUNT_CHANGED";
        if (!isStale || tries === TRIES_MAX) return outcome;
      }
    },
    tryCredentials: credentialsTrial(database, options),
    async isWhole(organization, { content, sealed }) {
      const fields = contentFrom(content);
      if (fields?.name !== "setRailAccount") return true;
      const account = fields as unknown as SetRailAccount;
      const { railAccountId: id, credentialsHmac } = account;
      if (sealed === undefined || credentialsHmac === undefined) {
        return sealed === undefined && credentialsHmac === undefined;
      }
      const keys = await keysOf(organization);
      const owner = { ...account, organizationId: organization.id, id };
      try {
        return hmacOfCredentials(keys, openCredentials(keys, owner, sealed)) === credentialsHmac;
      } catch {
        return false;
      }
    },
  };
}

/** What is wrong with the fields, before the account is opened. */
function problemsOf(rail: RailKind, asked: AskedRailAccount, now: UnixMillis): readonly RailAccountProblem[] {
  const { settings, credentials, credentialsExpireAt: end } = asked;
  if (!rail.hasCredentials) {
    const has = rail.needsSettings;
    const given = { settings: !has && settings !== "", credentials: credentials !== "", credentials_expire_at: end };
    const needless = Object.entries(given).flatMap(([field, is]) =>
      is === false || is === undefined
        ? []
        : [{ field: field as RailAccountProblem["field"], problem: `must be empty: the rail ${rail.name} has none` }],
    );
    return has ? [...textProblems("settings", settings, rail.settingsProblems), ...needless] : needless;
  }
  const isOver = end !== undefined && end <= now;
  return [
    ...textProblems("settings", settings, rail.settingsProblems),
    ...textProblems("credentials", credentials, rail.credentialsProblems),
    ...(end === undefined ? [missing("credentials_expire_at")] : []),
    ...(isOver ? [{ field: "credentials_expire_at", problem: "must be in the future" } as const] : []),
  ];
}

function textProblems(
  field: "settings" | "credentials",
  text: string,
  problemsIn: (given: unknown) => readonly string[],
): readonly RailAccountProblem[] {
  if (text === "") return [missing(field)];
  const given = parseFields(text);
  if (given === undefined) return [{ field, problem: "must be a JSON object" }];
  return problemsIn(given).map((sentence) => wrong(field, sentence));
}

function wrong(field: RailAccountProblem["field"], sentence: string): RailAccountProblem {
  return { field, problem: `is wrong: ${sentence.replace(/\.$/, "")}` };
}

function missing(field: RailAccountProblem["field"]): RailAccountProblem {
  return { field, problem: "is required for this rail", isMissing: true };
}

function settingOf(
  { id: organizationId }: RailOwner,
  asked: AskedRailAccount,
  earlier: StoredRailAccount | undefined,
): RailAccountSetting {
  const { rail, settings, credentials, credentialsExpireAt } = asked;
  // A new password must not make mints direct.
  const before = { ...DEFAULT_LIMITS, isDefault: false, ...earlier };
  return {
    id: earlier?.id ?? (typeidUnboxed("rail") as string as RailAccountId),
    organizationId,
    rail,
    // Spaces and the order of fields say nothing.
    settings: settings === "" ? "{}" : JSON.stringify(parseFields(settings)),
    credentials: credentials === "" ? undefined : JSON.stringify(parseFields(credentials)),
    credentialsExpireAt,
    isDefault: asked.isDefault ?? before.isDefault,
    beginWithinMillis: asked.beginWithinMillis ?? before.beginWithinMillis,
    confirmAboveCents: asked.confirmAboveCents ?? before.confirmAboveCents,
    resolveAloneMaxCents: asked.resolveAloneMaxCents ?? before.resolveAloneMaxCents,
    floatMinCents: asked.floatMinCents ?? before.floatMinCents,
  };
}

/** Opens the account, as a server would. */
function unusable(
  rail: RailKind,
  account: Parameters<RailKind["open"]>[0],
  { now, hosts }: Pick<RailChangesOptions, "now" | "hosts">,
): readonly RailAccountProblem[] {
  try {
    rail.open(account, { now, monotonicMillis: () => performance.now(), callbackUrl: () => "", hosts });
    return [];
  } catch (error) {
    if (!(error instanceof WrongRailAccountError)) throw error;
    return error.problems.map((sentence) => wrong("settings", sentence));
  }
}

function placesOf({ rail, settings }: Pick<StoredRailAccount, "rail" | "settings">): readonly string[] {
  return railNamed(rail)?.read(settings)?.places ?? [];
}

/** Two organizations at one place would each count the other's shillings as its own. */
function takenPlace(
  command: Pick<SetRailAccount, "railAccountId" | "rail" | "settings">,
  all: readonly StoredRailAccount[],
) {
  const own = placesOf(command);
  for (const other of all) {
    const place = other.id === command.railAccountId ? undefined : placesOf(other).find((each) => own.includes(each));
    if (place !== undefined) {
      return { reason: "RAIL_PLACE_TAKEN", place, organizationId: other.organizationId } as const;
    }
  }
  return undefined;
}
