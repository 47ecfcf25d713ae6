import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";

import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { clientCredentials } from "../../../runtime/transport/client-credentials.js";
import { GrpcCaller } from "../../support/callers/grpc-caller.js";
import { kesc, kescJson, Place, RunningKesc, type Variables } from "../../support/service/kesc.js";
import { TLS_CA_FILE, TLS_CERT_FILE, TLS_CLIENT_FILES, TLS_KEY_FILE } from "../../support/tls/files.js";

const TLS = { KESC_TLS_CERT_FILE: TLS_CERT_FILE, KESC_TLS_KEY_FILE: TLS_KEY_FILE, KESC_GATEWAY_CA_FILE: TLS_CA_FILE };

/** Sends one GET over HTTPS, and trusts nothing but the CA. */
function getOver(address: string, path: string, key: string, ca = readFileSync(TLS_CA_FILE)): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { ca, headers: { "x-api-key": key }, agent: false };
    const req = request(`https://${address}${path}`, options, (res) => {
      res.resume();
      resolve(res.statusCode ?? 0);
    });
    req.once("error", reject);
    req.end();
  });
}

describe("kesc serve with TLS", () => {
  let place: Place;
  let variables: Variables;
  let serve: RunningKesc;
  let addresses: { http: string; grpc: string };
  let key = "";

  before(async () => {
    place = await Place.migrated();
    // The secrets come from files, too.
    const urlFile = join(place.folder, "database-url");
    writeFileSync(urlFile, `${place.databaseUrl}\n`);
    variables = { ...place.variables, ...TLS, DATABASE_URL: "", DATABASE_URL_FILE: urlFile };
    const organization = await kescJson<{ id: string }>(["org", "create", "--name", "A"], variables);
    const created = await kescJson<{ secret: string }>(
      ["key", "create", "--org", organization.id, "--name", "k", "--all-scopes", "--never-expires"],
      variables,
    );
    key = created.secret;
    serve = new RunningKesc(["serve"], variables);
    const { address, grpcAddress = "" } = await serve.ready;
    addresses = { http: address, grpc: grpcAddress };
  });
  after(async () => {
    if (serve.process.exitCode === null) await serve.end();
    place.remove();
  });

  it("serves REST, behind which the gateway calls the server over TLS", async () => {
    expect(await getOver(addresses.http, "/accounts", key)).to.equal(200);
    expect(await getOver(addresses.http, "/readyz", "")).to.equal(200);
  });

  it("says at its start when the certificate expires, in both programs", async () => {
    await serve.said('"msg":"ready"');
    expect(serve.stdout.match(/"tls_not_after":"2126-/g)).to.have.length.of.at.least(2);
  });

  it("serves gRPC", async () => {
    const grpc = new GrpcCaller(addresses.grpc, {
      key,
      credentials: clientCredentials(addresses.grpc, TLS_CLIENT_FILES),
    });
    expect((await grpc.call("ListAccounts", {})).code).to.equal(Status.OK);
    grpc.close();
  });

  it("serves nobody without TLS, and goes on after such callers", async () => {
    const plain = new GrpcCaller(addresses.grpc, { key, deadlineMillis: 2_000 });
    expect((await plain.call("ListAccounts", {})).code).to.not.equal(Status.OK);
    plain.close();
    const text = await new Promise<string>((resolve) => {
      const [host, port] = addresses.http.split(":");
      const socket = connectTcp(Number(port), host, () => socket.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"));
      let received = "";
      socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")));
      socket.on("error", () => undefined);
      socket.on("close", () => {
        resolve(received);
      });
    });
    expect(text).to.not.contain("200");
    expect(await getOver(addresses.http, "/livez", "")).to.equal(200);
  });

  it("is trusted by those alone that have its CA", async () => {
    const other = getOver(addresses.http, "/livez", "", Buffer.from(""));
    expect(await other.catch((error: unknown) => (error as NodeJS.ErrnoException).code)).to.match(/CERT|SIGNATURE/);
  });

  it("is what kesc import calls", async () => {
    const file = join(place.folder, "rows.csv");
    writeFileSync(file, "type,account_id,amount,reference\nmint,acc_none,1.00,r-1\n");
    const keyFile = join(place.folder, "key");
    writeFileSync(keyFile, `${key}\n`);
    const options = { ...variables, KESC_API_KEY_FILE: keyFile };
    const { code, stderr } = await kesc(
      ["import", file, "--address", addresses.grpc.replace("127.0.0.1", "localhost")],
      options,
    );
    expect(code).to.equal(1);
    expect(stderr).to.contain(`${file}:2: ACCOUNT_NOT_FOUND: Account acc_none was not found.\n`);
  });

  it("exits with 0 at its shutdown, while a connection has not ended its handshake", async () => {
    const [host, port] = addresses.http.split(":");
    const silent = connectTcp(Number(port), host);
    await new Promise((resolve) => silent.once("connect", resolve));
    silent.on("error", () => undefined);
    expect(await serve.end()).to.equal(0);
    silent.destroy();
  });
});

describe("an address beyond the loopback", () => {
  let place: Place;
  before(async () => {
    place = await Place.migrated();
  });
  after(() => {
    place.remove();
  });

  for (const [command, variables, names] of [
    ["server", { KESC_GRPC_ADDRESS: "0.0.0.0:0" }, ["KESC_GRPC_ADDRESS"]],
    ["gateway", { KESC_HTTP_ADDRESS: "0.0.0.0:0" }, ["KESC_HTTP_ADDRESS"]],
    ["gateway", { KESC_GATEWAY_TARGET: "10.0.0.1:50051" }, ["KESC_GATEWAY_TARGET"]],
    ["serve", { KESC_HTTP_ADDRESS: "[::]:0" }, ["KESC_HTTP_ADDRESS"]],
    [
      "serve",
      { KESC_GRPC_ADDRESS: "0.0.0.0:0", KESC_HTTP_ADDRESS: "0.0.0.0:0", KESC_GATEWAY_TARGET: "127.0.0.1:1" },
      ["KESC_GRPC_ADDRESS", "KESC_HTTP_ADDRESS"],
    ],
  ] as const) {
    it(`keeps kesc ${command} from starting without TLS: ${JSON.stringify(variables)}`, async () => {
      const ended = await kesc([command], { ...place.variables, ...variables });
      expect(ended).to.include({ code: 2, stdout: "" });
      expect(ended.stderr.match(/^KESC_\w+/gm)).to.deep.equal(names);
    });
  }

  for (const [command, variables] of [
    ["server", { KESC_TLS_CERT_FILE: "none.pem", KESC_TLS_KEY_FILE: TLS_KEY_FILE }],
    ["gateway", { KESC_TLS_CERT_FILE: "none.pem", KESC_TLS_KEY_FILE: TLS_KEY_FILE, KESC_GATEWAY_CA_FILE: TLS_CA_FILE }],
  ] as const) {
    it(`keeps kesc ${command} from starting when the certificate cannot be read`, async () => {
      const { code, stderr } = await kesc([command], { ...place.variables, ...variables, KESC_GATEWAY_PROCESSES: "1" });
      expect(code).to.equal(2);
      expect(stderr).to.contain("none.pem (KESC_TLS_CERT_FILE) cannot be read: ENOENT.");
    });
  }

  it("is served with KESC_INSECURE=true, and called by the gateway in its process", async () => {
    const variables = { ...place.variables, KESC_INSECURE: "true", KESC_GRPC_ADDRESS: "0.0.0.0:0" };
    const serve = new RunningKesc(["serve"], variables);
    const { grpcAddress = "" } = await serve.ready;
    const grpc = new GrpcCaller(grpcAddress.replace("0.0.0.0", "127.0.0.1"));
    expect((await grpc.call("ListAccounts", {})).reason).to.equal("MISSING_API_KEY");
    grpc.close();
    expect(await serve.end()).to.equal(0);
    expect(serve.stdout).to.contain('"target":"this process"');
  });
});
