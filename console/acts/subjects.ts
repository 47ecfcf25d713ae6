import { status } from "@grpc/grpc-js";

import type { Proposal, Responses } from "../gen/messages.js";
import type { Visit } from "../page.js";
import type { Fields } from "../upstream/contract.js";
import type { Refusal } from "../upstream/refusal.js";
import type { Reading, RpcName } from "../upstream/upstream.js";
import { moneyText } from "../view/values.js";
import type { Act, Given } from "./act.js";
import { type Change, effectOf } from "./proposal-words.js";

/** What a field of an act names, as it is now. */
export interface Subject {
  /** What people call it: the user_id of an account, the name of an operator. */
  readonly name: string;
  readonly status: string | undefined;
  /** With the names of the contract. */
  readonly resource: Fields;
}

/**
 * What the fields of an act name, by the names of the fields. Undefined: there is no such thing. A
 * field that could not be read is left out.
 */
export type Subjects = ReadonlyMap<string, Subject | undefined>;

type Read = (visit: Visit, id: string, organizationId: string | undefined) => Promise<Reading<Subject | undefined>>;

interface Sought<Rpc extends RpcName, Resource extends Fields> {
  readonly find: (response: Responses[Rpc], id: string) => Resource | undefined;
  readonly names: (resource: Resource) => readonly [name: string, status?: string];
}

/** Reads a resource, or a list that may have it. */
function read<Rpc extends RpcName, Resource extends Fields>(
  rpc: Rpc,
  request: (id: string) => Fields,
  { find, names }: Sought<Rpc, Resource>,
): Read {
  return async (visit, id, organizationId) => {
    const reading = await visit.read(rpc, request(id), organizationId);
    if (!reading.ok) return reading;
    const resource = find(reading.value, id);
    if (resource === undefined) return { ok: true, value: undefined };
    const [name, status] = names(resource);
    return { ok: true, value: { name, status, resource } };
  };
}

/** Its name has those of what it is about: "Unfreeze account: wanjiku". */
const readProposal: Read = async (visit, proposal_id) => {
  const reading = await visit.read("AdminService/GetProposal", { proposal_id });
  if (!reading.ok) return reading;
  const { proposal } = reading.value;
  const effect = effectOf(proposal);
  const subjects = [...(await subjectsOf(visit, proposal)).values()];
  const names = subjects.flatMap((subject) => subject?.name ?? []).filter((name) => !effect.includes(name));
  const name = [effect, ...names].join(effect.includes(": ") ? ", " : ": ");
  return { ok: true, value: { name, status: proposal.state, resource: proposal } };
};

// The pages that lead to these acts list as many.
const LISTED = { page_size: 100 };
/** More than there are rails. */
export const RAILS_LISTED = 8;
/** What a mint without a rail is credited by. It has no account. */
export const DIRECT = "direct";

const standing = (row: { readonly name: string; readonly revoked_at: string | null }): readonly [string, string] => [
  row.name,
  row.revoked_at === null ? "active" : "revoked",
];

/** Of an account at a rail, with the name of the default one. "direct" has no account. */
const readRail: Read = async (visit, rail, organizationId) => {
  const listed = await visit.read("AdminService/ListRailAccounts", { page_size: RAILS_LISTED }, organizationId);
  if (!listed.ok) return listed;
  const { rail_accounts: accounts } = listed.value;
  const account = accounts.find((each) => each.rail === rail);
  if (account === undefined && rail !== DIRECT) return { ok: true, value: undefined };
  const resource = { account, default: accounts.find((each) => each.is_default)?.rail ?? DIRECT };
  return { ok: true, value: { name: rail, status: undefined, resource } };
};

/** Of a tier, or of the organization itself if the name is empty. */
const readTier: Read = async (visit, tier, organizationId) => {
  const reading = await visit.read("AdminService/GetLimits", {}, organizationId);
  if (!reading.ok) return reading;
  const { limits, tiers } = reading.value;
  const resource = tier === "" ? limits : tiers.find((each) => each.tier === tier);
  if (resource === undefined) return { ok: true, value: undefined };
  return { ok: true, value: { name: tier === "" ? "the organization itself" : tier, status: undefined, resource } };
};

/** The check that stands, whatever the address of the next one. Without one, that is the first. */
const readCheck: Read = async (visit, name, organizationId) => {
  const reading = await visit.read("AdminService/GetPayoutCheck", {}, organizationId);
  if (reading.ok) return { ok: true, value: { name, status: undefined, resource: reading.value.payout_check } };
  return reading.refusal.reason === "PAYOUT_CHECK_NOT_FOUND" ? { ok: true, value: undefined } : reading;
};

/** The reads, by the fields of acts. */
const READS: Readonly<Record<string, Read>> = {
  account_id: read("AccountService/GetAccount", (account_id) => ({ account_id }), {
    find: ({ account }) => account,
    names: ({ user_id, status }) => [user_id ?? "", status],
  }),
  transaction_id: read("TransactionService/GetTransaction", (transaction_id) => ({ transaction_id }), {
    find: ({ transaction }) => transaction,
    names: ({ type, amount, status }) => [`${type} of ${moneyText(amount)} KES`, status],
  }),
  deposit_id: read("DepositService/GetDeposit", (deposit_id) => ({ deposit_id }), {
    find: ({ deposit }) => deposit,
    names: ({ amount, status }) => [`${moneyText(amount)} KES`, status],
  }),
  rail: readRail,
  tier: readTier,
  url: readCheck,
  webhook_endpoint_id: read("WebhookService/GetWebhookEndpoint", (webhook_endpoint_id) => ({ webhook_endpoint_id }), {
    find: ({ webhook_endpoint }) => webhook_endpoint,
    names: ({ url, status }) => [url, status],
  }),
  place: read("AdminService/ListReserve", () => ({}), {
    find: ({ reserve_holdings }, place) => reserve_holdings.find((each) => each.place === place),
    names: ({ place }) => [place],
  }),
  sha256: read("AdminService/GetPayouts", (sha256) => ({ sha256 }), {
    find: ({ payouts }) => payouts,
    names: ({ count, rail, amount, state }) => [
      `${count.toLocaleString("en")} payouts over ${rail}, together ${moneyText(amount)} KES`,
      state,
    ],
  }),
  proposal_id: readProposal,
  operator_id: read("AdminService/ListOperators", () => LISTED, {
    find: ({ operators }, id) => operators.find((each) => each.id === id),
    names: standing,
  }),
  passkey_id: read("AdminService/ListOperators", () => LISTED, {
    find: ({ operators }, id) => operators.find(({ passkeys }) => passkeys.some((passkey) => passkey.id === id)),
    names: standing,
  }),
  session_id: read("SessionService/ListSessions", () => LISTED, {
    find: ({ sessions }, id) => sessions.find((each) => each.id === id),
    names: ({ operator_name }) => [operator_name],
  }),
  api_key_id: read("AdminService/ListApiKeys", () => LISTED, {
    find: ({ api_keys }, id) => api_keys.find((each) => each.id === id),
    names: standing,
  }),
};

/** What the fields name, and the first refusal: an id of nothing. */
export interface Named {
  readonly subjects: Subjects;
  readonly refusal: Refusal | undefined;
}

/** Reads what the fields of an act name. */
export async function namedBy(visit: Visit, given: Given, organizationId?: string): Promise<Named> {
  const read = await Promise.all(
    Object.entries(given).map(async ([field, id]) => {
      const reading = id === "" && field !== "tier" ? undefined : await READS[field]?.(visit, id, organizationId);
      return { field, reading };
    }),
  );
  const subjects = new Map<string, Subject | undefined>();
  let refusal: Refusal | undefined;
  for (const { field, reading } of read) {
    if (reading?.ok === true) subjects.set(field, reading.value);
    if (reading?.ok === false && reading.refusal.code === status.NOT_FOUND) refusal ??= reading.refusal;
  }
  return { subjects, refusal };
}

/** Returns what an act would change from what is so now. Nothing if that cannot be said. */
export function changesOf(act: Act, given: Given, subjects: Subjects): readonly Change[] {
  const field = act.about ?? act.subject ?? "";
  const resource = subjects.get(field)?.resource;
  // Only what was looked for, and is not there, is new.
  if (resource === undefined && !(act.about !== undefined && subjects.has(field))) return [];
  return act.changes?.(resource ?? {}, given) ?? [];
}

const FIELDS_OF_IDS: Readonly<Record<string, string>> = {
  acc: "account_id",
  txn: "transaction_id",
  dep: "deposit_id",
  opr: "operator_id",
};

/** Reads what a proposal is about and what its changes name, by the ids. */
export async function subjectsOf(visit: Visit, { subject_id, changes, organization_id }: Proposal): Promise<Subjects> {
  const ids = new Set([subject_id ?? "", ...changes.flatMap(({ before, after }) => [before, after])]);
  const read = [...ids].map(async (id) => {
    const [, prefix = ""] = /^([a-z]{3})_[0-9a-z]{26}$/.exec(id) ?? [];
    const reading = await READS[FIELDS_OF_IDS[prefix] ?? ""]?.(visit, id, organization_id ?? undefined);
    return reading?.ok === true ? [[id, reading.value] as const] : [];
  });
  return new Map((await Promise.all(read)).flat());
}

/**
 * Returns the id of the account that a person means by an id, or by the user_id of an open account.
 * Returns the text itself if there is none.
 */
export async function accountIdOf(visit: Visit, text: string): Promise<string> {
  if (text === "" || /^acc_[0-9a-z]{26}$/.test(text)) return text;
  const read = await visit.read("AccountService/ListAccounts", {
    user_id: text,
    statuses: ["active", "frozen"],
    page_size: 1,
  });
  return (read.ok ? read.value.accounts[0]?.id : undefined) ?? text;
}

/** The texts that exist already, by the fields of forms. A form offers them, and takes others. */
const SUGGESTIONS: Readonly<Record<string, (visit: Visit) => Promise<readonly string[]>>> = {
  async place(visit) {
    const read = await visit.read("AdminService/ListReserve", {});
    return read.ok ? read.value.reserve_holdings.map(({ place }) => place) : [];
  },
  async tier(visit) {
    const read = await visit.read("AdminService/GetLimits", {});
    return [...new Set(["default", ...(read.ok ? read.value.tiers.map(({ tier }) => tier) : [])])];
  },
};

/** Returns the texts that the fields can have again, by the names of the fields. */
export async function suggestionsFor(
  visit: Visit,
  fields: readonly { readonly name: string }[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const read = fields.map(async ({ name }) => [name, (await SUGGESTIONS[name]?.(visit)) ?? []] as const);
  return new Map(await Promise.all(read));
}
