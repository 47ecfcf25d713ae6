import { credentials } from "@grpc/grpc-js";
import { pino } from "pino";

import { KescClient } from "../../client/kesc-client.js";
import { startConsole } from "../../console/server.js";
import { type Demo, makeDemo } from "../../src/cli/commands/demo.js";
import { fillDemoBook } from "../../src/cli/commands/demo-book.js";
import { DemoPeople } from "../../src/cli/commands/demo-people.js";
import { type OperatorName, type Role as RoleName, ROLES } from "../../src/domain/operator.js";
import { AdminServiceService as Admin } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { Role } from "../../src/gen/kesc/admin/v1/resources.js";
import { SessionServiceService as Sessions } from "../../src/gen/kesc/admin/v1/session_service.js";
import { now } from "../../src/startup/clock.js";
import { StoredAdministration } from "../../src/storage/operators/administration.js";
import { newKey } from "../operators/given.js";
import { GrpcCaller, type GrpcReply } from "../support/callers/grpc-caller.js";
import { actOn } from "../support/people.js";
import { freePort } from "../support/postgres-node.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";

/** The server, and a console of it. */
export interface ConsoleService {
  readonly running: InProcess;
  readonly demo: Demo;
  readonly client: KescClient;
  readonly origin: string;
  /** The operator's keys of Amina (finance, admin) and Brian (approver). */
  readonly keys: { readonly amina: string; readonly brian: string };
  /** The keys of people who have one role each. */
  readonly roleKeys: Readonly<Record<RoleName, string>>;
  /** The lines of the console's log. */
  readonly lines: string[];
  /** Starts one more console, which takes itself for `origin`. Returns its own address. */
  startConsole(origin: string, bounds?: { readonly connectionsMax: number }): Promise<string>;
  /** A link for each person, which signs in once. */
  links(): ReturnType<DemoPeople["links"]>;
  /** Amina records the reserve, and proposes an operator. */
  act(): Promise<void>;
  /** Amina invites somebody. Returns the link of the invitation. */
  invite(name: string, role: keyof typeof Role): Promise<string>;
  /** Amina makes an API key of the organization, which may read accounts. */
  createKey(name: string): Promise<void>;
  /** Brian approves all that waits. */
  approveAll(): Promise<void>;
  dispose(): Promise<void>;
}

/** The people who have one role each. */
const NAMES: Readonly<Record<RoleName, string>> = {
  viewer: "Njeri",
  support: "Esther",
  finance: "Kamau",
  approver: "Otieno",
  admin: "Dennis",
};

/** A busy machine must not turn a page of a test into "The server did not respond in time." */
const READ_MILLIS_MAX = 30_000;
/** A receiver on this machine gets events. */
const WEBHOOKS = { KESC_WEBHOOKS_ALLOW: "127.0.0.1" };

/** Starts both on the organization of the demo. Each console has a port of its own. */
export async function startConsoleService({ isFilled = false } = {}): Promise<ConsoleService> {
  const port = await freePort();
  let demo: Demo | undefined;
  const origin = `http://localhost:${String(port)}`;
  const environment = { KESC_OPERATOR_ADDRESS: "127.0.0.1:0", KESC_CONSOLE_ORIGIN: origin, ...WEBHOOKS };
  const roleKeys: Partial<Record<RoleName, string>> = {};
  const running = await startInProcess("sqlite", undefined, environment, async (database) => {
    demo = await makeDemo(database);
    const stored = new StoredAdministration(database, { now, fourEyes: new Set() });
    for (const role of ROLES) {
      const { key, sha256: keySha256 } = newKey();
      await actOn(stored, {
        name: "createOperator",
        operatorName: NAMES[role] as OperatorName,
        roles: [role],
        keySha256,
      });
      roleKeys[role] = key;
    }
  });
  if (demo?.secret === undefined) throw new Error("the demo has no key");
  const { organizationId } = demo;
  const { operatorAddress: target = "" } = running;
  const client = new KescClient({ address: running.grpcAddress, apiKey: demo.secret });
  const people = new DemoPeople(demo.people, target, credentials.createInsecure());
  if (isFilled) {
    await people.act(organizationId, (await fillDemoBook(client)).freeze);
  }
  const operators = new GrpcCaller(target, { deadlineMillis: 10_000 });
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => lines.push(line) });
  const listen = { host: "127.0.0.1", port };
  const options = { target, shutdownGraceSeconds: 1, tls: undefined, clientTls: undefined };
  const readMillisMax = READ_MILLIS_MAX;
  const consoles = [await startConsole({ ...options, listen, origin }, log, { readMillisMax })];
  const [amina = "", brian = ""] = demo.people.map(({ key }) => key);
  return {
    running,
    demo,
    client,
    origin,
    keys: { amina, brian },
    roleKeys: roleKeys as Record<RoleName, string>,
    lines,
    async startConsole(other, bounds) {
      const started = await startConsole({ ...options, listen: { ...listen, port: 0 }, origin: other }, log, {
        readMillisMax,
        ...bounds,
      });
      consoles.push(started);
      return `http://${started.address}`;
    },
    links: () => people.links(),
    act: () => people.act(organizationId),
    async invite(name, role) {
      const request = { name, roles: [Role[role]] };
      return responseOf(await operators.call(Sessions.createInvitation, request, { key: amina })).link;
    },
    async createKey(name) {
      const request = { organization_id: organizationId, name, scopes: ["accounts:read"], never_expires: true };
      responseOf(await operators.call(Admin.createApiKey, request, { key: amina }));
    },
    async approveAll() {
      const request = { include_closed: false, organization_id: "", subject_id: "", for_me: true };
      const pending = responseOf(await operators.call(Admin.listProposals, request, { key: brian }));
      for (const { id: proposal_id } of pending.proposals) {
        await operators.call(Admin.approveProposal, { proposal_id }, { key: brian });
      }
    },
    async dispose() {
      operators.close();
      client.close();
      people.close();
      for (const each of consoles) await each.stop();
      await running.dispose();
    },
  };
}

function responseOf<Response>({ response, message }: GrpcReply<Response | undefined>): Response {
  if (response === undefined) throw new Error(message);
  return response;
}
