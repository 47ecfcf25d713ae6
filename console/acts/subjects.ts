import { status } from "@grpc/grpc-js";

import type { Visit } from "../page.js";
import type { Fields } from "../upstream/contract.js";
import type {
  Account,
  Accounts,
  ApiKey,
  Deposit,
  Operator,
  Proposal,
  ReserveHolding,
  Session,
  Transaction,
} from "../upstream/messages.js";
import type { Refusal } from "../upstream/refusal.js";
import type { Reading } from "../upstream/upstream.js";
import { moneyText } from "../view/values.js";
import type { Act, Change } from "./acts.js";
import { changesIn, effectOf } from "./proposal-words.js";

type Given = Readonly<Record<string, string>>;

/** What a field of an act names, as it is now. */
export interface Subject {
  /** What people call it: the user_id of an account, the name of an operator. */
  readonly name: string;
  readonly status: string | undefined;
  /** The resource, with the names of the contract. */
  readonly resource: object;
  /** What a proposal would change. */
  readonly changes?: readonly Change[];
}

/**
 * What the fields of an act name, by the names of the fields. Undefined: there is no such thing. A
 * field that could not be read is left out.
 */
export type Subjects = ReadonlyMap<string, Subject | undefined>;

type Read = (visit: Visit, id: string, organizationId: string | undefined) => Promise<Reading<Subject | undefined>>;
type Names<T> = (resource: T) => readonly [name: string, status?: string];

/** Reads one resource by its id. */
function one<T extends object>(rpc: string, field: string, names: Names<T>): Read {
  return async (visit, id, organizationId) => {
    const read = await visit.read<Readonly<Record<string, T>>>(rpc, { [`${field}_id`]: id }, organizationId);
    return read.ok ? { ok: true, value: subjectFrom(read.value[field], names) } : read;
  };
}

// The pages that lead to these acts list as many.
const LISTED_MAX = 100;

interface Listed<T> {
  readonly rpc: string;
  /** The field of the response that has the list. */
  readonly field: string;
  readonly request: (organizationId: string | undefined) => Fields;
  readonly names: Names<T>;
  readonly isIt: (resource: T, id: string) => boolean;
}

/** Reads a list that may have the resource. */
function among<T extends object>({ rpc, field, request, names, isIt }: Listed<T>): Read {
  return async (visit, id, organizationId = visit.organization?.id) => {
    const read = await visit.read<Readonly<Record<string, readonly T[]>>>(rpc, request(organizationId));
    if (!read.ok) return read;
    return {
      ok: true,
      value: subjectFrom(
        read.value[field]?.find((each) => isIt(each, id)),
        names,
      ),
    };
  };
}

function subjectFrom<T extends object>(resource: T | undefined, names: Names<T>): Subject | undefined {
  if (resource === undefined) return undefined;
  const [name, status] = names(resource);
  return { name, status, resource };
}

const proposalNames: Names<Proposal> = (proposal) => [effectOf(proposal), proposal.state];

/** Its name has those of what it is about: "Unfreeze account: wanjiku". */
const readProposal: Read = async (visit, id) => {
  const read = await one("AdminService/GetProposal", "proposal", proposalNames)(visit, id, undefined);
  if (!read.ok || read.value === undefined) return read;
  const proposal = read.value.resource as Proposal;
  const subjects = await subjectsOf(visit, proposal);
  const changes = changesIn(proposal);
  const effect = read.value.name;
  const all = [...subjects.values()].flatMap((subject) => (subject === undefined ? [] : [subject.name]));
  const names = all.filter((name) => !effect.includes(name));
  const name = [effect, ...names].join(effect.includes(": ") ? ", " : ": ");
  return { ok: true, value: { ...read.value, name, changes } };
};

/** Reads an operator by an id of the operator, or of a passkey. */
const amongOperators = (isIt: Listed<Operator>["isIt"]): Read =>
  among<Operator>({
    rpc: "AdminService/ListOperators",
    field: "operators",
    request: () => ({ page_size: LISTED_MAX }),
    names: ({ name, revoked_at }) => [name, revoked_at === null ? "active" : "revoked"],
    isIt,
  });

/** The reads, by the fields of acts. */
const READS: Readonly<Record<string, Read>> = {
  account_id: one<Account>("AccountService/GetAccount", "account", ({ user_id, status }) => [user_id ?? "", status]),
  transaction_id: one<Transaction>("TransactionService/GetTransaction", "transaction", (row) => [
    `${row.type} of ${moneyText(row.amount)} KES`,
    row.status,
  ]),
  deposit_id: one<Deposit>("DepositService/GetDeposit", "deposit", ({ amount, status }) => [
    `${moneyText(amount)} KES`,
    status,
  ]),
  place: among<ReserveHolding>({
    rpc: "AdminService/ListReserve",
    field: "reserve_holdings",
    request: (organization_id) => ({ organization_id }),
    names: ({ place }) => [place],
    isIt: (each, place) => each.place === place,
  }),
  proposal_id: readProposal,
  operator_id: amongOperators((each, id) => each.id === id),
  passkey_id: amongOperators(({ passkeys }, passkey) => passkeys.some(({ id }) => id === passkey)),
  session_id: among<Session>({
    rpc: "SessionService/ListSessions",
    field: "sessions",
    request: () => ({ page_size: LISTED_MAX }),
    names: ({ operator_name }) => [operator_name],
    isIt: (each, id) => each.id === id,
  }),
  api_key_id: among<ApiKey>({
    rpc: "AdminService/ListApiKeys",
    field: "api_keys",
    request: (organization_id) => ({ organization_id, page_size: LISTED_MAX }),
    names: ({ name, revoked_at }) => [name, revoked_at === null ? "active" : "revoked"],
    isIt: (each, id) => each.id === id,
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
      const reading = id === "" ? undefined : await READS[field]?.(visit, id, organizationId);
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
  const { resource, changes } = subjects.get(field) ?? {};
  if (act.name === "approve") return changes ?? [];
  // Only what was looked for, and is not there, is new.
  if (resource === undefined && !(act.about !== undefined && subjects.has(field))) return [];
  return act.changes?.((resource ?? {}) as Readonly<Record<string, unknown>>, given) ?? [];
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
    const field = /^[a-z]{3}_[0-9a-z]{26}$/.test(id) ? FIELDS_OF_IDS[id.slice(0, 3)] : undefined;
    const reading = await READS[field ?? ""]?.(visit, id, organization_id ?? undefined);
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
  const read = await visit.read<Accounts>("AccountService/ListAccounts", {
    user_id: text,
    statuses: ["active", "frozen"],
    page_size: 1,
  });
  return (read.ok ? read.value.accounts[0]?.id : undefined) ?? text;
}

/** The texts that exist already, by the fields of forms. A form offers them, and takes others. */
const SUGGESTIONS: Readonly<Record<string, (visit: Visit) => Promise<readonly string[]>>> = {
  async place(visit) {
    const read = await visit.read<{ readonly reserve_holdings: readonly ReserveHolding[] }>(
      "AdminService/ListReserve",
      { organization_id: visit.organization?.id },
    );
    return read.ok ? read.value.reserve_holdings.map(({ place }) => place) : [];
  },
  async tier(visit) {
    const read = await visit.read<{ readonly tiers: readonly { readonly tier: string }[] }>("AdminService/GetLimits", {
      organization_id: visit.organization?.id,
    });
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
