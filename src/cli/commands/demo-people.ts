import { createHash, randomBytes } from "node:crypto";

import { type ChannelCredentials, Client, Metadata, type MethodDefinition } from "@grpc/grpc-js";

import { AdminServiceService as Admin } from "../../gen/kesc/admin/v1/admin_service.js";
import { Role } from "../../gen/kesc/admin/v1/resources.js";
import { SessionServiceService as Sessions } from "../../gen/kesc/admin/v1/session_service.js";
import { type OperatorName, type Role as RoleName } from "../../operators/operator.js";
import { now } from "../../startup/clock.js";
import type { Database } from "../../storage/database.js";
import { StoredAdministration } from "../../storage/operators/administration.js";
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
 * It acts as the command on the database, whom no policy binds.
 */
export async function prepareDemoPeople(database: Database): Promise<readonly DemoPerson[]> {
  const stored = new StoredAdministration(database, { now, fourEyes: new Set() });
  const existing = await stored.operators();
  const people: DemoPerson[] = [];
  for (const [name, roles] of Object.entries(PEOPLE)) {
    const { key, keySha256 } = newKey();
    const operator = existing.find((each) => (each.name as string) === name);
    await stored.submit(
      operator === undefined
        ? { kind: "operator.create", name: name as OperatorName, roles, keySha256 }
        : { kind: "operator.replace_key", operatorId: operator.id, keySha256 },
      undefined,
    );
    people.push({ name, key });
  }
  return people;
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
    this.#client = new Client(address, credentials);
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
  async act(organization_id: string, freeze?: DemoFreeze): Promise<void> {
    const [first, second] = this.#people;
    if (first === undefined || second === undefined) return;
    const as_of_day = new Date(now() - 86_400_000).toISOString().slice(0, 10);
    const reserve = {
      place: "Trust account, KCB 1234",
      amount: "400000.00",
      evidence: "statement 47",
      note: "the day's figure",
    };
    const { proposal } = await this.#call(first, Admin.recordReserve, {
      organization_id,
      as_of_day,
      kind: 1,
      document_sha256: "",
      matures_on: "",
      ...reserve,
    });
    if (proposal !== undefined) {
      await this.#call(second, Admin.approveProposal, { proposal_id: proposal.id, note: "in the statement" });
    }
    // Brian can approve it with the code of a link: it is in a sandbox.
    const note = "the user has a new phone";
    if (freeze !== undefined) await this.#call(first, Admin.unfreezeAccount, { organization_id, ...freeze, note });
    const { keySha256: key_sha256 } = newKey();
    await this.#call(first, Admin.createOperator, { name: "Carol Wanjiru", roles: [Role.ROLE_SUPPORT], key_sha256 });
  }

  #call<Request, Response>(
    { key }: DemoPerson,
    method: MethodDefinition<Request, Response>,
    request: Request,
  ): Promise<Response> {
    const metadata = new Metadata();
    metadata.set("x-api-key", key);
    return new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = method;
      const options = { deadline: Date.now() + CALL_MILLIS_MAX };
      this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata,
        options,
        (error, response) => {
          if (response === undefined) reject(error ?? new Error("no response"));
          else resolve(response);
        },
      );
    });
  }
}
