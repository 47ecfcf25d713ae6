import type { PayoutMode, RailAccountRecord } from "../../domain/rail-account.js";
import type { Rail } from "../../domain/transaction.js";
import { type Actor, OPERATOR } from "../../domain/values/actor.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { NO_REASON, type StatusReason } from "../../domain/values/text.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { railAccountsText } from "../../ledger/ports/store.js";
import type { RailAccountFields } from "../../operators/rails.js";
import type { Cell, Database } from "../database.js";
import { byMachine, mustCommit } from "../organizations/commit-now.js";
import type { BookKeys } from "../secrets/book-keys.js";
import { hmacOfCredentials, sealCredentials, type StoredRailAccount, storedRailAccounts } from "./rail-accounts.js";

/** What a person sets about an account at a rail. */
export interface RailAccountSetting extends Omit<
  RailAccountRecord,
  "credentials" | "payouts" | "payoutsReason" | "revision" | "warnings" | "createdAt" | "updatedAt"
> {
  /** A JSON object; undefined if the rail needs none. */
  readonly credentials: string | undefined;
}

/** The limits of an account for which nobody has set others. */
export const DEFAULT_LIMITS = {
  beginWithinMillis: 120_000,
  confirmAboveCents: 0,
  resolveAloneMaxCents: 0,
  floatMinCents: 0,
} as const satisfies Partial<RailAccountSetting>;

/** Encrypts the credentials, so that a command and its proposal hold no secret. */
export function fieldsOfSetting(
  keys: BookKeys,
  { id, credentials, ...setting }: RailAccountSetting,
): RailAccountFields {
  const { organizationId, ...fields } = setting;
  const owner = { ...fields, organizationId, id };
  return {
    ...fields,
    name: "setRailAccount",
    railAccountId: id,
    credentialsHmac: credentials === undefined ? undefined : hmacOfCredentials(keys, credentials),
    sealed: credentials === undefined ? undefined : sealCredentials(keys, owner, credentials),
  };
}

/** The accounts at rails as a change of one finds them. */
export interface StateOfAccounts {
  /** All accounts of all cells. */
  readonly all: readonly StoredRailAccount[];
  /** What the command must say about them. If they have changed since, its decision refuses it. */
  readonly accountsOfAll: string;
}

/** Reads the accounts of all cells, so that a change of one can be committed. */
export async function stateOfAccounts({ cells }: Pick<Database, "cells">): Promise<StateOfAccounts> {
  const all: StoredRailAccount[] = [];
  for (const cell of cells) all.push(...(await storedRailAccounts(cell)));
  const revisions = all.reduce((sum, { revision }) => sum + revision, 0);
  return { all, accountsOfAll: railAccountsText({ count: all.length, revisions }) };
}

interface MachineChange {
  readonly now: UnixMillis;
  /** Who decided it. The machine when omitted. */
  readonly actor?: Actor;
  /** The code of the rail, if the settlement closes payouts for it. */
  readonly lockedCode?: string;
}

/** Stores an account at a rail for the machine. The caller answers for its settings. */
export async function saveRailAccount(
  database: Pick<Database, "cells">,
  { setting, cell, now }: { readonly setting: RailAccountSetting; readonly cell: Cell; readonly now: UnixMillis },
): Promise<void> {
  const { organizationId } = setting;
  const { keys } = await cell.directory.book(organizationId, ({ sql, bindings }) => cell.reader.rows(sql, bindings));
  const fields = fieldsOfSetting(keys, setting);
  const { accountsOfAll } = await stateOfAccounts(database);
  const facts = { accountsOfAll, movesPlace: false };
  await mustCommit(cell, { ...fields, ...byMachine(organizationId), note: NO_REASON, facts }, now);
}

/** Sets whether payouts of the account begin. Rejects as `mustCommit` does. */
export async function setPayouts(
  cell: Cell,
  { organizationId, rail }: { readonly organizationId: OrganizationId; readonly rail: Rail },
  {
    payouts,
    reason,
    now,
    actor = OPERATOR,
    lockedCode,
  }: MachineChange & { readonly payouts: PayoutMode; readonly reason: string },
): Promise<void> {
  const note = reason as StatusReason;
  const command = { name: "setPayouts", rail, payouts, note, lockedCode, ...byMachine(organizationId, actor) } as const;
  await mustCommit(cell, command, now);
}
