import type { RailAccountId } from "../../domain/payment.js";
import { isCredentialUntried, refusedCredentialOf } from "../../domain/rail-account.js";
import { DIRECT_RAIL, type Rail } from "../../domain/transaction.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { StoreError } from "../../ledger/ports/store.js";
import type {
  DefaultRails,
  RailAccount,
  RailAccounts,
  SettledAccounts,
  UsableAccounts,
} from "../../settlement/ports/rail-accounts.js";
import type { Cell } from "../database.js";
import {
  ChangedRailAccountError,
  contextOf,
  lostRailAccounts,
  type NamedRailAccount,
  openCredentials,
  railAccountsVersion,
  type StoredRailAccount,
  storedRailAccounts,
} from "./rail-accounts.js";

const REFRESH_MILLIS = 2_000;
const DAY_MILLIS = 86_400_000;
const WARNED_DAYS = 14;

/** An account with its decrypted credentials: undefined if the rail needs none. */
export type OpenRailAccount = Omit<StoredRailAccount, "credentials"> & { readonly credentials: string | undefined };

interface DirectoryDependencies {
  readonly now: () => UnixMillis;
  /** Makes the rail of an account. Throws if its settings or credentials are wrong. */
  readonly railOf: (account: OpenRailAccount) => RailAccount["rail"];
  /** The accounts could not be read. Those that are known stay in use. */
  readonly onReadError: (error: unknown) => void;
  /** The account cannot be used. Reported when the account is read, and not each time after. */
  readonly onUnusable: (account: StoredRailAccount, error: unknown) => void;
  /** The credentials expire within 14 days, or have expired. Reported once a day. */
  readonly onExpiring: (account: StoredRailAccount, expireAt: UnixMillis) => void;
}

type DirectoryCell = Pick<Cell, "engine" | "directory"> & { readonly reader: Pick<Cell["reader"], "rows"> };

/** A rail, and what it was made from. A rail holds an access token, so it lives on while it can. */
interface MadeRail {
  readonly source: string;
  readonly rail: RailAccount["rail"];
}

/** Implements the ports `RailAccounts` and `DefaultRails` for one cell. */
export class RailAccountDirectory implements RailAccounts, SettledAccounts, DefaultRails, UsableAccounts {
  readonly #cell: DirectoryCell;
  readonly #given: DirectoryDependencies;
  #version = "";
  #stored: readonly StoredRailAccount[] = [];
  #accounts: ReadonlyMap<RailAccountId, RailAccount> = new Map();
  /** By the organization, and the name of the rail. The default one has an empty name as well. */
  #byName: ReadonlyMap<string, NamedRailAccount> = new Map();
  #rails: ReadonlyMap<RailAccountId, MadeRail> = new Map();
  #timer: NodeJS.Timeout | undefined;
  /** The refresh under way. */
  #refreshing: Promise<void> | undefined;
  readonly #warnedDays = new Map<RailAccountId, number>();

  constructor(cell: DirectoryCell, given: DirectoryDependencies) {
    this.#cell = cell;
    this.#given = given;
  }

  /**
   * Reads the accounts, and goes on doing so. Rejects if the first time fails: without the accounts
   * every organization would seem to use the direct rail.
   */
  async start(): Promise<void> {
    await this.#refresh();
    this.#timer = setInterval(() => void this.refresh(), REFRESH_MILLIS).unref();
  }

  /** Resolves when nothing is being read any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#refreshing;
  }

  /**
   * Reads the accounts again if one has changed, or waits for the refresh under way. Never rejects.
   */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh()
      .catch(this.#given.onReadError)
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  account(id: RailAccountId): RailAccount | undefined {
    return this.#accounts.get(id);
  }

  all(): readonly RailAccount[] {
    return [...this.#accounts.values()];
  }

  accountOf(organizationId: OrganizationId, rail: Rail | undefined): RailAccount | undefined {
    const stored = this.#byName.get(nameOf(organizationId, rail ?? ""));
    const account = stored === undefined ? undefined : this.#accounts.get(stored.id);
    if (stored !== undefined && account === undefined && rail === undefined) {
      throw new StoreError("unavailable", new Error(`${stored.id} cannot be used`));
    }
    return account;
  }

  accountsOf(organizationId: OrganizationId): readonly RailAccount[] {
    return this.all().filter((account) => account.organizationId === organizationId);
  }

  defaultRail(organizationId: OrganizationId): Rail {
    return this.#byName.get(nameOf(organizationId, ""))?.rail ?? DIRECT_RAIL;
  }

  async #refresh(): Promise<void> {
    const version = await railAccountsVersion(this.#cell);
    if (version !== this.#version) {
      await this.#read();
      // Only now: a change while the accounts were read is a change to read.
      this.#version = version;
    }
    this.#warn();
  }

  async #read(): Promise<void> {
    const { directory, reader } = this.#cell;
    const stored = await storedRailAccounts(this.#cell);
    const organizationIds = [...new Set(stored.map(({ organizationId }) => organizationId))];
    const books = await directory.find(organizationIds, ({ sql, bindings }) => reader.rows(sql, bindings));
    const keys = new Map(books.map((book) => [book.organizationId, book.keys]));
    const rails = new Map<RailAccountId, MadeRail>();
    const accounts = new Map<RailAccountId, RailAccount>();
    for (const account of stored) {
      try {
        const made = this.#made(account, keys);
        rails.set(account.id, made);
        accounts.set(account.id, railAccountOf(account, made.rail));
      } catch (error) {
        this.#given.onUnusable(account, error);
      }
    }
    // A call without a rail must not become a direct one because an account is gone.
    const lost = await lostRailAccounts(this.#cell, stored);
    for (const { id } of lost) {
      this.#given.onReadError(new Error(`the account ${id} is gone from the database, but not from the journal`));
    }
    this.#stored = stored;
    this.#byName = new Map(
      [...stored, ...lost].flatMap((account: NamedRailAccount) => [
        [nameOf(account.organizationId, account.rail), account] as const,
        ...(account.isDefault ? [[nameOf(account.organizationId, ""), account] as const] : []),
      ]),
    );
    this.#rails = rails;
    this.#accounts = accounts;
  }

  #made(
    account: StoredRailAccount,
    keys: ReadonlyMap<OrganizationId, Parameters<typeof openCredentials>[0]>,
  ): MadeRail {
    if (!account.isWhole) throw new ChangedRailAccountError(account);
    const { id, organizationId, credentials: sealed } = account;
    const source = [...contextOf(account), sealed?.hex].join("\n");
    const before = this.#rails.get(id);
    if (before?.source === source) return before;
    const own = keys.get(organizationId);
    if (own === undefined) throw new Error(`the organization ${organizationId} has no book`);
    const credentials = sealed && openCredentials(own, account, sealed);
    return { source, rail: this.#given.railOf({ ...account, credentials }) };
  }

  #warn(): void {
    const now = this.#given.now();
    const today = Math.floor(now / DAY_MILLIS);
    for (const account of this.#stored) {
      const { id, credentialsExpireAt } = account;
      if (!expiresSoon(account, now) || credentialsExpireAt === undefined || this.#warnedDays.get(id) === today)
        continue;
      this.#warnedDays.set(id, today);
      this.#given.onExpiring(account, credentialsExpireAt);
    }
  }
}

/** Returns whether the credentials expire within 14 days, or have expired. */
export function expiresSoon(
  { credentialsExpireAt }: Pick<StoredRailAccount, "credentialsExpireAt">,
  now: UnixMillis,
): boolean {
  return credentialsExpireAt !== undefined && credentialsExpireAt - now <= WARNED_DAYS * DAY_MILLIS;
}

function nameOf(organizationId: OrganizationId, rail: string): string {
  return `${organizationId} ${rail}`;
}

function railAccountOf(stored: StoredRailAccount, rail: RailAccount["rail"]): RailAccount {
  const { id, organizationId, payouts, beginWithinMillis, confirmAboveCents, resolveAloneMaxCents, revision } = stored;
  const own = {
    id,
    organizationId,
    rail,
    payouts,
    beginWithinMillis,
    confirmAboveCents,
    resolveAloneMaxCents,
    revision,
  };
  return {
    ...own,
    changedAt: stored.updatedAt,
    refused: refusedCredentialOf(stored),
    isUntried: isCredentialUntried(stored),
  };
}
