import { fromUUID, toUUID, type TypeId } from "typeid-js";
import type * as z from "zod";

import type { RailAccountId } from "../domain/payment.js";
import type { Rail } from "../domain/transaction.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { AddressPurpose } from "./callback-token.js";
import { parseFields } from "./fields.js";
import type { PaymentRail } from "./rail.js";
import type { StatementFile, StatementFormat, StatementWords } from "./statement.js";

/**
 * What the program knows about a rail before an organization has an account there. `rails.ts` lists
 * all kinds.
 */
export interface RailKind {
  readonly name: Rail;
  /** Whether the rail sends messages: servers then need an address for callbacks. */
  readonly callsBack: boolean;
  /** Whether the rail can return a payment to its payer (`PaymentRail.returnPayment`). */
  readonly returnsPayments: boolean;
  /** The words that the rail refuses in the address of a callback. */
  readonly forbiddenInCallbackUrl: RegExp | undefined;
  /** Whether an account has settings and credentials, which an operator gives in two files. */
  readonly hasCredentials: boolean;
  /** Whether an account without credentials has settings, which an operator gives in a file. */
  readonly needsSettings: boolean;
  /** Settings that are files of their own: the field with the file's name → the stored field. */
  readonly settingsFiles: Readonly<Record<string, string>>;
  /** Undefined if no statement of the rail can be read. */
  readonly statement: StatementFormat | undefined;

  /** Returns one sentence for each wrong field. A sentence never repeats a value. */
  readonly settingsProblems: (given: unknown) => readonly string[];
  readonly credentialsProblems: (given: unknown) => readonly string[];
  /** Reads stored settings. Returns undefined if nobody can use them. */
  read(settings: string): ReadSettings | undefined;
  /** Opens an account. Calls no rail. Throws a WrongRailAccountError. */
  open(account: RailAccountSource, dependencies: RailDependencies): PaymentRail;
}

/** What stored settings say. Nothing in it is secret. */
export interface ReadSettings {
  /**
   * What no two organizations may share, such as "shortcode 174379 at https://…". While payments
   * are under way it must not change: another place does not know them.
   */
  readonly places: readonly string[];
  /** The numbers by which a statement names the account. */
  readonly numbers: readonly string[];
  /** The words that tell the kind of a statement's row, beyond those of the rail. */
  readonly statementWords?: StatementWords | undefined;
  /** The facts that `kesc rail status` shows to people, by their names. */
  readonly facts: Readonly<Record<string, string>>;
}

/** What an adapter says about its rail; `railKind` makes a RailKind of it. */
export interface RailDefinition<Settings, Credentials> {
  readonly name: string;
  readonly callsBack?: true;
  readonly returnsPayments?: true;
  readonly forbiddenInCallbackUrl?: RegExp;
  readonly statement?: StatementFormat;
  /** The settings of an account, as they are stored. They hold no secret. */
  readonly settings: z.ZodType<Settings>;
  readonly settingsFiles?: Readonly<Record<string, string>>;
  /** Left out for a rail without secrets: then an operator gives no files at all. */
  readonly credentials?: z.ZodType<Credentials>;
  /** Says why the settings are not for this organization or this machine: one sentence each. */
  refusals(settings: Settings, account: { readonly isSandbox: boolean; readonly hosts: readonly string[] }): string[];
  read?(settings: Settings): ReadSettings;
  open(account: OpenedAccount<Settings, Credentials>): PaymentRail;
}

export interface OpenedAccount<Settings, Credentials> extends Clocks {
  readonly settings: Settings;
  readonly credentials: Credentials;
  /** The UUID of the account, which callbacks about deposits name. */
  readonly accountUuid: string;
  /** Returns the address for the rail's messages. It holds a token for what they are about. */
  readonly callbackUrl: CallbackUrl;
}

export type CallbackUrl = (purpose: AddressPurpose, uuid: string) => string;

export interface Clocks {
  readonly now: () => UnixMillis;
  /** A clock that nobody sets, for the life of an access token. */
  readonly monotonicMillis: () => number;
}

/** An organization's account at a rail, as it is stored. */
export interface RailAccountSource {
  /** A TypeID with the prefix `rail`. */
  readonly id: RailAccountId;
  /** Whether the organization is for tests. */
  readonly isSandbox: boolean;
  readonly rail: string;
  /** A JSON object. */
  readonly settings: string;
  /** A JSON object. Undefined if the rail needs none. */
  readonly credentials: string | undefined;
}

export interface RailDependencies extends Clocks {
  /** Undefined if the service does not know where rails can call back. */
  readonly callbackUrl: CallbackUrl | undefined;
  /** The hosts beside the rail's own at which a live account may be: "host" or "host:port". */
  readonly hosts: readonly string[];
}

/** The account cannot be used. The message has one line for each reason, and no secret. */
export class WrongRailAccountError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "WrongRailAccountError";
  }
}

/** Returns the id of the account with this UUID, which callbacks about deposits name. */
export function railAccountIdOf(uuid: string): RailAccountId {
  return fromUUID(uuid, "rail") as string as RailAccountId;
}

/** Returns what these stored settings of an account say about its statements. */
export function statementSettings(kind: RailKind, settings: string | undefined): Omit<StatementFile, "name"> {
  const { numbers = [], statementWords: words } = (settings === undefined ? undefined : kind.read(settings)) ?? {};
  return { numbers, words };
}

/** Returns the kind of a rail, whose settings and credentials only the adapter can name. */
export function railKind<Settings, Credentials = undefined>(rail: RailDefinition<Settings, Credentials>): RailKind {
  const { name, settings, credentials } = rail;
  return {
    name: name as Rail,
    callsBack: rail.callsBack === true,
    returnsPayments: rail.returnsPayments === true,
    forbiddenInCallbackUrl: rail.forbiddenInCallbackUrl,
    hasCredentials: credentials !== undefined,
    needsSettings: !settings.safeParse({}).success,
    settingsFiles: rail.settingsFiles ?? {},
    statement: rail.statement,
    settingsProblems: (given) => checked(settings, given).problems,
    credentialsProblems: (given) => (credentials === undefined ? [] : checked(credentials, given).problems),
    read: (stored) => {
      const { value } = checked(settings, parseFields(stored));
      return value === undefined ? undefined : rail.read?.(value);
    },
    open: (account, dependencies) => opened(rail, account, dependencies),
  };
}

function opened<Settings, Credentials>(
  rail: RailDefinition<Settings, Credentials>,
  account: RailAccountSource,
  { callbackUrl, hosts, ...clocks }: RailDependencies,
): PaymentRail {
  const settings = checked(rail.settings, parseFields(account.settings));
  const credentials: Checked<Credentials | undefined> =
    rail.credentials === undefined
      ? { value: undefined, problems: [] }
      : checked(rail.credentials, parseFields(account.credentials ?? ""));
  const problems = [...settings.problems, ...credentials.problems];
  if (settings.value !== undefined) {
    problems.push(...rail.refusals(settings.value, { isSandbox: account.isSandbox, hosts }));
  }
  if (rail.callsBack === true && callbackUrl === undefined) {
    problems.push(
      `The rail ${rail.name} needs KESC_CALLBACK_BASE_URL and KESC_CALLBACK_SECRET_FILE, which are not set.`,
    );
  }
  if (settings.value === undefined || problems.length > 0) throw new WrongRailAccountError(problems);
  return rail.open({
    settings: settings.value,
    // Its schema took it. Without a schema its type is undefined.
    credentials: credentials.value as Credentials,
    accountUuid: toUUID(account.id as string as TypeId<"rail">),
    // Only a rail that calls back asks for an address.
    callbackUrl: callbackUrl ?? (() => ""),
    ...clocks,
  });
}

interface Checked<Value> {
  /** Undefined if there are problems. */
  readonly value: Value | undefined;
  readonly problems: readonly string[];
}

function checked<Value>(schema: z.ZodType<Value>, given: unknown): Checked<Value> {
  const result = schema.safeParse(given);
  return result.success
    ? { value: result.data, problems: [] }
    : { value: undefined, problems: result.error.issues.flatMap(sentencesOf) };
}

function sentencesOf(issue: z.core.$ZodIssue): readonly string[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `${[...path, key].join(".")} is not a field that is known.`);
  }
  return [path.length === 0 ? "The file must hold a JSON object." : `${path.join(".")} ${issue.message}.`];
}
