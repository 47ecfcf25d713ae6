import { execFileSync } from "node:child_process";
import { connect, type Socket } from "node:net";

import { expect } from "chai";

import { fresh, newAccount } from "../../support/service/each-engine.js";
import { Service } from "../../support/service/service.js";

// Ten thousand connections take a minute (`make hostile`). A process may only open so many files,
// and needs some of them itself.
const FILES_NEEDED = 200;
const WANTED = Number(process.env["IDLE_CONNECTIONS"] ?? 1_000);
const ALLOWED = execFileSync("sh", ["-c", "ulimit -Hn"], { encoding: "utf8" }).trim();
const CONNECTIONS = ALLOWED === "unlimited" ? WANTED : Math.min(WANTED, Number(ALLOWED) - FILES_NEEDED);
const AT_ONCE = 200;

const PREFACE_AND_SETTINGS = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from("000000040000000000", "hex"),
]);

describe(`${String(CONNECTIONS)} idle connections`, () => {
  let service: Service;
  let accountId: string;
  let idle: Socket[] = [];
  before(async () => {
    service = await Service.start("sqlite");
    accountId = await newAccount(service);
  });
  afterEach(() => {
    for (const socket of idle) socket.destroy();
    idle = [];
  });
  after(() => service.dispose());

  async function expectServed(): Promise<void> {
    const body = { account_id: accountId, amount: 1, reference: fresh("idle") };
    expect((await service.rest("POST", "/transactions/mint", { body })).status).to.equal(201);
    expect((await service.rest("GET", "/readyz")).status).to.equal(200);
    const grpc = { account_id: accountId, amount: "1.00", reference: fresh("idle") };
    expect((await service.grpc.call("Mint", grpc)).code).to.equal(0);
  }

  for (const [where, address, first] of [
    ["gRPC, and say nothing", "grpcAddress", Buffer.alloc(0)],
    ["gRPC, and say that they are HTTP/2", "grpcAddress", PREFACE_AND_SETTINGS],
    ["REST, and say nothing", "httpAddress", Buffer.alloc(0)],
    ["REST, and begin a request", "httpAddress", Buffer.from("POST /transactions/mint HTTP/1.1\r\nHost: ")],
  ] as const) {
    it(`may hang on ${where}, while others are served`, async () => {
      const [host, port] = service[address].split(":");
      const open = (): Promise<void> =>
        new Promise((resolve, reject) => {
          const socket = connect(Number(port), host, () => {
            socket.write(first, () => {
              resolve();
            });
          });
          socket.once("error", reject);
          idle.push(socket);
        });
      while (idle.length < CONNECTIONS) await Promise.all(Array.from({ length: AT_ONCE }, open));
      await expectServed();
    });
  }

  it("leave a server behind that stops cleanly", async () => {
    await expectServed();
    expect(await service.stop()).to.equal(0);
  });
});
