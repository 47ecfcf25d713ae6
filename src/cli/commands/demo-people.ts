import { createHash, randomBytes } from "node:crypto";

import { type ChannelCredentials, Client, Metadata, type MethodDefinition } from "@grpc/grpc-js";

import { serverNameFor } from "../../../runtime/transport/server-name.js";
import { asWritten } from "../../domain/api-key.js";
import { type OperatorName, type Role as RoleName } from "../../domain/operator.js";
import { HOUSE } from "../../domain/people/people.js";
import { DEMO } from "../../domain/values/actor.js";
import { AdminServiceService as Admin } from "../../gen/kesc/admin/v1/admin_service.js";
import { Role } from "../../gen/kesc/admin/v1/resources.js";
import { SessionServiceService as Sessions } from "../../gen/kesc/admin/v1/session_service.js";
import { AccountServiceService as Accounts } from "../../gen/kesc/v1/account_service.js";
import { newIds } from "../../operators/authority.js";
import { now } from "../../startup/clock.js";
import { UsageError } from "../../startup/operator-error.js";
import type { Database } from "../../storage/database.js";
import { keys as openKeys } from "../../storage/keys.js";
import { StoredPeople } from "../../storage/operators/stored-people.js";
import { byMachine } from "../../storage/organizations/commit-now.js";
import type { DemoFreeze } from "./demo-book.js";

/** Two people: what one proposes, the other one approves. */
const PEOPLE: Readonly<Record<string, readonly RoleName[]>> = { Amina: ["finance", "admin"], Brian: ["approver"] };
const CALL_MILLIS_MAX = 10_000;

/** A person of the demo, with a key that only this process knows. */
export interface DemoPerson {
  readonly name: string;
  readonly key: string;
}

/** A link that signs a person in once. */
export interface DemoLink {
  readonly name: string;
  readonly link: string;
}

/**
 * Makes the people of the demo. A later start gives them new keys: nobody has kept the old ones.
 * Writes nothing for people who may be real: `refuseRealPeople` comes first.
 */
export async function prepareDemoPeople(database: Database, clock = now): Promise<readonly DemoPerson[]> {
  const stored = new StoredPeople(database.cells[0], clock);
  const existing = await stored.operators();
  const people: DemoPerson[] = [];
  for (const [name, roles] of Object.entries(PEOPLE)) {
    const { key, keySha256 } = newKey();
    const operator = existing.find((each) => (each.name as string) === name);
    const by = { keySha256, ...byMachine(HOUSE, DEMO) };
    await stored.submit(
      operator === undefined
        ? { name: "createOperator", operatorName: name as OperatorName, roles, facts: newIds(), ...by }
        : { name: "replaceOperatorKey", operatorId: operator.id, ...by },
    );
    people.push({ name, key });
  }
  return people;
}

/**
 * Throws a UsageError if the database has an organization that is no sandbox, or an operator
 * whom neither the demo nor its people made. Only reads.
 */
export async function refuseRealPeople(database: Database): Promise<void> {
  const live = (await openKeys(database, now).organizations()).map(asWritten).find(({ isSandbox }) => !isSandbox);
  const acts = await new StoredPeople(database.cells[0], now).acts({
    size: Number.MAX_SAFE_INTEGER,
    beforeSeq: undefined,
  });
  const ofDemo = new Set<string>([DEMO]);
  const stranger = acts
    .toReversed()
    .filter(({ kind }) => kind === "operator.created")
    .find(({ operatorId, actor }) => {
      const isOfDemo = actor.split(",").every((author) => ofDemo.has(author));
      if (isOfDemo) ofDemo.add(operatorId);
      return !isOfDemo;
    });
  if (live === undefined && stranger === undefined) return;
  const found =
    live === undefined
      ? `the operator ${stranger?.operatorId ?? ""}, whom no demo made`
      : `the organization ${live.id} ("${live.name}"), which is no sandbox`;
  throw new UsageError(
    `--demo: this database has ${found}. A demo makes people and prints links that sign them in, so it needs a ` +
      "database of its own. Nothing was changed. Leave --demo out, or set DATABASE_URL to a new database.",
  );
}

function newKey(): { readonly key: string; readonly keySha256: string } {
  const key = `kesc_op_${randomBytes(32).toString("base64url")}`;
  return { key, keySha256: createHash("sha256").update(key).digest("hex") };
}

/** Calls of the people at the operators' address. */
export class DemoPeople {
  readonly #client: Client;
  readonly #people: readonly DemoPerson[];

  constructor(people: readonly DemoPerson[], address: string, credentials: ChannelCredentials) {
    this.#people = people;
    this.#client = new Client(address, credentials, serverNameFor(address));
  }

  close(): void {
    this.#client.close();
  }

  /** Returns a link for each person, which signs in once. */
  async links(): Promise<readonly DemoLink[]> {
    return Promise.all(
      this.#people.map(async (person) => ({
        name: person.name,
        link: (await this.#call(person, Sessions.createSignInCode, {})).link,
      })),
    );
  }

  /** Two people record where the reserve lies, and one proposes what the other must approve. */
  async act(organizationId: string, freeze?: DemoFreeze): Promise<void> {
    const [first, second] = this.#people;
    if (first === undefined || second === undefined) return;
    const as_of_day = new Date(now() - 86_400_000).toISOString().slice(0, 10);
    const reserve = {
      place: "Trust account, KCB 1234",
      amount: "400000.00",
      evidence: "statement 47",
      note: "the day's figure",
    };
    const figure = { as_of_day, kind: 1, document_sha256: "", matures_on: "", ...reserve };
    const { proposalId: proposal_id } = await this.#call(first, Admin.recordReserve, figure, organizationId);
    if (proposal_id !== undefined) {
      await this.#call(second, Admin.approveProposal, { proposal_id, note: "in the statement" });
    }
    // Brian can approve it with the code of a link: it is in a sandbox.
    const note = "the user has a new phone";
    if (freeze !== undefined) await this.#call(first, Accounts.unfreezeAccount, { ...freeze, note }, organizationId);
    const { keySha256: key_sha256 } = newKey();
    await this.#call(first, Admin.createOperator, { name: "Carol Wanjiru", roles: [Role.ROLE_SUPPORT], key_sha256 });
  }

  #call<Request, Response>(
    { key }: DemoPerson,
    method: MethodDefinition<Request, Response>,
    request: Request,
    organizationId?: string,
  ): Promise<Response & { readonly proposalId?: string }> {
    const metadata = new Metadata();
    let proposalId: string | undefined;
    metadata.set("x-api-key", key);
    if (organizationId !== undefined) metadata.set("kesc-organization", organizationId);
    return new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = method;
      const options = { deadline: Date.now() + CALL_MILLIS_MAX };
      const sent = this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata,
        options,
        (error, response) => {
          if (response === undefined) reject(error ?? new Error("no response"));
          else resolve({ ...response, ...(proposalId === undefined ? {} : { proposalId }) });
        },
      );
      sent.on("metadata", (head) => ([proposalId] = head.get("kesc-proposal").map(String)));
    });
  }
}
