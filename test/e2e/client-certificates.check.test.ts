import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";

import { credentials, status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { verifyOptionsFor } from "../../runtime/transport/server-name.js";
import { GrpcCaller } from "../support/callers/grpc-caller.js";
import { eventually } from "../support/eventually.js";
import { kesc, kescJson, Place, RunningKesc, type Variables } from "../support/service/kesc.js";
import { Authority, type Issued, LOCAL_NAMES, writeTls } from "../support/tls/authority.js";

const BILLING = "URI:spiffe://example.com/billing";
const GATEWAY = "DNS:gateway.example.com";
const ROTATIONS = 5;

describe("certificates of clients, and new certificates under load", () => {
  let place: Place;
  let folder: string;
  let authority: Authority;
  let billing: Issued;
  let variables: Variables;
  let serve: RunningKesc;
  let grpcAddress = "";
  let httpAddress = "";
  let key = "";
  let otherKey = "";
  const keyIds = new Map<string, string>();
  const opened: GrpcCaller[] = [];

  before(async () => {
    place = new Place();
    folder = mkdtempSync(join(tmpdir(), "kesc-tls-"));
    authority = await Authority.create("tests");
    billing = await authority.issue({ names: [BILLING] });
    const server = writeTls(join(folder, "server"), await authority.issue({ names: LOCAL_NAMES }), authority.pem);
    const gateway = writeTls(join(folder, "gateway"), await authority.issue({ names: [GATEWAY] }), authority.pem);
    variables = {
      ...place.variables,
      KESC_TLS_CERT_FILE: server.cert,
      KESC_TLS_KEY_FILE: server.key,
      KESC_TLS_CLIENT_CA_FILE: server.ca,
      KESC_GATEWAY_CA_FILE: gateway.ca,
      KESC_GATEWAY_CERT_FILE: gateway.cert,
      KESC_GATEWAY_KEY_FILE: gateway.key,
      KESC_GATEWAY_PROCESSES: "2",
    };
    expect((await kesc(["migrate"], variables)).code).to.equal(0);
    const organizations = await Promise.all(
      ["A", "B"].map((name) => kescJson<{ id: string }>(["org", "create", "--name", name], variables)),
    );
    const [a = "", b = ""] = organizations.map(({ id }) => id);
    key = (await createKey(a, "--name", "k", "--all-scopes")).secret;
    otherKey = (await createKey(b, "--name", "k", "--all-scopes")).secret;
    await createKey(a, "--certificate", BILLING, "--scopes", "accounts:read,accounts:write,transactions:write");
    // A mistake of an operator, which must let nobody in through the gateway.
    await createKey(a, "--certificate", GATEWAY, "--all-scopes");
    serve = new RunningKesc(["serve"], variables);
    const listening = await serve.ready;
    grpcAddress = listening.grpcAddress ?? "";
    httpAddress = listening.address;
  });
  after(async () => {
    for (const grpc of opened) grpc.close();
    await serve.end();
    place.remove();
    rmSync(folder, { recursive: true });
  });

  async function createKey(org: string, ...args: string[]): Promise<{ id: string; secret: string }> {
    const made = await kescJson<{ id: string; secret: string; name: string }>(
      ["key", "create", "--org", org, "--never-expires", ...args],
      variables,
    );
    keyIds.set(made.name, made.id);
    return made;
  }

  function caller({ cert, key: own }: Issued, apiKey = ""): GrpcCaller {
    const [ca, key, certificate] = [authority.pem, own, cert].map((pem) => Buffer.from(pem));
    const secure = credentials.createSsl(ca, key, certificate, verifyOptionsFor(grpcAddress));
    const grpc = new GrpcCaller(grpcAddress, { key: apiKey, credentials: secure, deadlineMillis: 20_000 });
    opened.push(grpc);
    return grpc;
  }

  function rest(method: string, path: string, headers: Record<string, string>, body = "", agent?: Agent) {
    return new Promise<{ status: number; code: unknown }>((resolve, reject) => {
      const options = { method, ca: authority.pem, agent: agent ?? false, headers };
      const req = request(`https://${httpAddress}${path}`, options, (res) => {
        let text = "";
        res.on("data", (chunk: Buffer) => (text += chunk.toString()));
        res.on("end", () => {
          resolve({ status: res.statusCode ?? 0, code: (JSON.parse(text) as Record<string, unknown>)["code"] });
        });
      });
      req.once("error", reject);
      req.end(body);
    });
  }

  /** Creates an account over gRPC. Returns its id, or the reason of the refusal. */
  async function created(grpc: GrpcCaller, userId: string): Promise<string> {
    const request = { user_id: userId, phone_number: "+254712345678", email: `${userId}@example.com` };
    const { reason, response } = await grpc.call("CreateAccount", request);
    return reason ?? (response["account"] as { id: string }).id;
  }

  it("let a caller in without a key, as the organization of its certificate", async () => {
    const id = await created(caller(billing), "by-certificate");
    expect(id).to.match(/^acc_/);
    expect((await caller(billing, key).call("GetAccount", { account_id: id })).code).to.equal(Status.OK);
    expect((await caller(billing, otherKey).call("GetAccount", { account_id: id })).reason).to.equal(
      "ACCOUNT_NOT_FOUND",
    );
  });

  it("give the scopes of their key, and no other", async () => {
    expect((await caller(billing).call("ListTransactions", {})).reason).to.equal("SCOPE_REQUIRED");
  });

  it("count for nothing beside a key: the key decides", async () => {
    const wrong = await caller(billing, `kesc_0_${"a".repeat(43)}`).call("ListAccounts", {});
    expect(wrong.reason).to.equal("INVALID_API_KEY");
  });

  it("of an unknown name let nobody in, whatever the caller says about itself", async () => {
    const stranger = caller(await authority.issue({ names: ["DNS:stranger.example.com"] }));
    for (const metadata of [{}, { "kesc-peer-certificate": BILLING }, { "x-forwarded-client-cert": BILLING }]) {
      expect((await stranger.call("ListAccounts", {}, { metadata })).reason).to.equal("MISSING_API_KEY");
    }
  });

  it("with a name that Node must quote let nobody in", async () => {
    const tricky = await authority.issue({ names: [`URI:x,${BILLING}`, `URI:spiffe://example.com/"`, BILLING] });
    expect((await caller(tricky).call("ListAccounts", {})).reason).to.equal("MISSING_API_KEY");
  });

  it("of the gateway identify none of its callers", async () => {
    for (const headers of [{}, { "kesc-peer-certificate": GATEWAY }, { "kesc-forwarded": "" }]) {
      expect(await rest("GET", "/accounts", headers)).to.deep.equal({ status: 401, code: "MISSING_API_KEY" });
    }
    expect((await rest("GET", "/accounts", { "x-api-key": key })).status).to.equal(200);
  });

  it("are needed by commands, too", async () => {
    const args = ["call", "ListAccounts", "{}", "--address", grpcAddress.replace("127.0.0.1", "localhost")];
    const own = { ...variables, KESC_API_KEY: key };
    expect((await kesc(args, own)).code).to.equal(0);
    const without = { ...own, KESC_GATEWAY_CERT_FILE: "", KESC_GATEWAY_KEY_FILE: "" };
    expect((await kesc(args, without)).code).to.equal(1);
  });

  it("are replaced five times under load, and no call fails", async () => {
    const id = await created(caller(billing), "load");
    const failed: unknown[] = [];
    let done = 0;
    let isOver = false;
    const mint = async (client: number, send: (reference: string) => Promise<unknown>): Promise<void> => {
      for (let count = 0; !isOver; count += 1) {
        const failure = await send(`load-${String(client)}-${String(count)}`).catch((error: unknown) => error);
        if (failure !== undefined) failed.push(failure);
        done += 1;
      }
    };
    const body = (reference: string): string => JSON.stringify({ account_id: id, amount: 1, reference });
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const overRest =
      (agent: () => Agent | undefined) =>
      async (reference: string): Promise<unknown> => {
        const { status, code } = await rest("POST", "/transactions/mint", headers, body(reference), agent());
        return status === 201 ? undefined : { status, code };
      };
    const overGrpc =
      (grpc: () => GrpcCaller) =>
      async (reference: string): Promise<unknown> => {
        const { code, message } = await grpc().call("Mint", { account_id: id, amount: "1.00", reference });
        return code === 0 ? undefined : { code, message };
      };
    const kept = new Agent({ keepAlive: true });
    const steady = caller(billing);
    const minting = [
      mint(
        0,
        overRest(() => kept),
      ),
      mint(
        1,
        overRest(() => undefined),
      ),
      mint(
        2,
        overGrpc(() => steady),
      ),
      mint(
        3,
        overGrpc(() => caller(billing)),
      ),
    ];
    for (let rotation = 0; rotation < ROTATIONS; rotation += 1) {
      const next = await authority.issue({ names: LOCAL_NAMES });
      writeTls(join(folder, "server"), next, authority.pem);
      writeTls(join(folder, "gateway"), await authority.issue({ names: [GATEWAY] }), authority.pem);
      for (const address of [grpcAddress, httpAddress]) {
        await eventually(async () => (await servedSerial(address)) === next.serial, { millisMax: 20_000 });
      }
      const before = done;
      await eventually(() => done > before + 8, { millisMax: 20_000 });
    }
    isOver = true;
    await Promise.all(minting);
    kept.destroy();
    expect(failed).to.deep.equal([]);
    expect(done).to.be.above(ROTATIONS * 8);
  });

  it("let nobody in within a second after their key was revoked, on an open connection, too", async () => {
    const grpc = caller(billing);
    expect((await grpc.call("ListAccounts", {})).code).to.equal(Status.OK);
    expect((await kesc(["key", "revoke", keyIds.get(BILLING) ?? ""], variables)).code).to.equal(0);
    await eventually(async () => (await grpc.call("ListAccounts", {})).reason === "INVALID_API_KEY");
    expect((await caller(billing).call("ListAccounts", {})).reason).to.equal("INVALID_API_KEY");
  });

  function servedSerial(address: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect({
        port: Number(address.split(":").at(-1)),
        ca: authority.pem,
        cert: billing.cert,
        key: billing.key,
        ALPNProtocols: [address === grpcAddress ? "h2" : "http/1.1"],
      });
      socket.once("secureConnect", () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      });
      socket.once("error", reject);
    });
  }
});
