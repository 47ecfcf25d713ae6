import type { Visit } from "../page.js";
import type { Account, ApiKey, Deposit, Operator, Proposal, Session, Transaction } from "../upstream/messages.js";
import { moneyText } from "../view/values.js";
import type { Act, Change } from "./acts.js";
import { actOfProposal, effectOf, givenIn, subjectField } from "./proposal-words.js";

/** What an act is about, as it is now. */
export interface Subject {
  /** What people call it: the user_id of an account, the name of an operator. */
  readonly name: string;
  readonly status: string | undefined;
  /** The resource, with the names of the contract. */
  readonly resource: object;
  /** What a proposal would change. */
  readonly changes?: readonly Change[];
}

type Read = (visit: Visit, id: string, organizationId: string | undefined) => Promise<Subject | undefined>;
type Names<T> = (resource: T) => readonly [name: string, status?: string];

/** Reads one resource by its id. */
function one<T extends object>(rpc: string, field: string, names: Names<T>): Read {
  return async (visit, id, organizationId) => {
    const read = await visit.read<Readonly<Record<string, T>>>(rpc, { [`${field}_id`]: id }, organizationId);
    return subjectFrom(read.ok ? read.value[field] : undefined, names);
  };
}

// The pages that lead to these acts list as many.
const LISTED_MAX = 100;

/** Reads a list that has the resource. */
function among<T extends object>(
  rpc: string,
  field: string,
  names: Names<T>,
  isIt: (resource: T, id: string) => boolean,
): Read {
  return async (visit, id, organizationId = visit.organization?.id) => {
    const ofOrganization = field === "api_keys" ? { organization_id: organizationId } : {};
    const read = await visit.read<Readonly<Record<string, readonly T[]>>>(rpc, {
      page_size: LISTED_MAX,
      ...ofOrganization,
    });
    return subjectFrom(read.ok ? read.value[field]?.find((each) => isIt(each, id)) : undefined, names);
  };
}

function subjectFrom<T extends object>(resource: T | undefined, names: Names<T>): Subject | undefined {
  if (resource === undefined) return undefined;
  const [name, status] = names(resource);
  return { name, status, resource };
}

const proposalNames: Names<Proposal> = (proposal) => [effectOf(proposal), proposal.state];

/** Its name has that of what it is about: "Unfreeze account: wanjiku". */
async function readProposal(visit: Visit, id: string): Promise<Subject | undefined> {
  const read = await one("AdminService/GetProposal", "proposal", proposalNames)(visit, id, undefined);
  if (read === undefined) return undefined;
  const { subject, changes } = await aboutProposal(visit, read.resource as Proposal);
  return { ...read, name: subject === undefined ? read.name : `${read.name}: ${subject.name}`, changes };
}

const operatorName: Names<Operator> = ({ name, revoked_at }) => [name, revoked_at === null ? "active" : "revoked"];

/** The reads, by the field of the act that names its subject. */
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
  proposal_id: readProposal,
  operator_id: among<Operator>("AdminService/ListOperators", "operators", operatorName, (each, id) => each.id === id),
  passkey_id: among<Operator>("AdminService/ListOperators", "operators", operatorName, ({ passkeys }, passkey) =>
    passkeys.some(({ id }) => id === passkey),
  ),
  session_id: among<Session>(
    "SessionService/ListSessions",
    "sessions",
    ({ operator_name }) => [operator_name],
    (each, id) => each.id === id,
  ),
  api_key_id: among<ApiKey>(
    "AdminService/ListApiKeys",
    "api_keys",
    ({ name, revoked_at }) => [name, revoked_at === null ? "active" : "revoked"],
    (each, id) => each.id === id,
  ),
};

/** Reads what an act is about. Undefined if it is about nothing that can be read. */
export async function subjectOf(
  visit: Visit,
  { subject }: { readonly subject?: string | undefined },
  given: Readonly<Record<string, string>>,
  organizationId?: string,
): Promise<Subject | undefined> {
  const id = given[subject ?? ""] ?? "";
  return id === "" ? undefined : READS[subject ?? ""]?.(visit, id, organizationId);
}

/** Returns what an act would change from what is so now. Nothing if that cannot be said. */
export function changesOf(
  act: Act,
  given: Readonly<Record<string, string>>,
  subject: Subject | undefined,
): readonly Change[] {
  if (subject === undefined) return [];
  if (act.name === "approve") return subject.changes ?? [];
  return act.changes?.(subject.resource as Readonly<Record<string, unknown>>, given) ?? [];
}

/** Reads what a proposal is about, and what it would change from what is so now. */
export async function aboutProposal(
  visit: Visit,
  proposal: Proposal,
): Promise<{ readonly subject: Subject | undefined; readonly changes: readonly Change[] }> {
  const given = givenIn(proposal);
  const organizationId = proposal.organization_id ?? undefined;
  const subject = await subjectOf(visit, { subject: subjectField(proposal) }, given, organizationId);
  const act = proposal.state === "pending" ? actOfProposal(visit.acts.values(), proposal) : undefined;
  return { subject, changes: act === undefined ? [] : changesOf(act, given, subject) };
}
