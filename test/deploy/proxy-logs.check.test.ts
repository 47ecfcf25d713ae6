import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { expect } from "chai";

import { eventually } from "../support/eventually.js";
import { type RunningProxy, startHaproxy } from "../support/haproxy.js";
import { freePort } from "../support/postgres-node.js";
import { TLS_CA_FILE, TLS_CERT_FILE, TLS_KEY_FILE } from "../support/tls/files.js";

const at = (port: number): string => `127.0.0.1:${String(port)}`;

interface Proxy extends RunningProxy {
  readonly port: number;
}

async function startLoggingHaproxy(folder: string, gateway: number): Promise<Proxy> {
  const [port, grpc, gateways] = [await freePort(), await freePort(), await freePort()];
  const listen = { REST_LISTEN: at(port), GRPC_LISTEN: at(grpc), GATEWAYS_LISTEN: at(gateways) };
  const proxy = startHaproxy(folder, { LOG: "stdout", ...listen, GATEWAY1: at(gateway), GATEWAY2: at(gateway) });
  return { ...proxy, port };
}

async function startNginx(folder: string, gateway: number): Promise<Proxy> {
  const [port, grpc] = [await freePort(), await freePort()];
  const [access, error] = [join(folder, "access.log"), join(folder, "error.log")];
  const ours = readFileSync("deploy/nginx/kesc.conf", "utf8")
    .replaceAll("/etc/nginx/kesc.crt", resolve(TLS_CERT_FILE))
    .replaceAll("/etc/nginx/kesc.key", resolve(TLS_KEY_FILE))
    .replace("/var/log/nginx/access.log", access)
    .replace("listen 443 ", `listen ${at(port)} `)
    .replace("listen 8443 ", `listen ${at(grpc)} `)
    .replace("server 127.0.0.1:8080 ", `server ${at(gateway)} `);
  const file = join(folder, "nginx.conf");
  writeFileSync(
    file,
    `daemon off;\npid ${folder}/pid;\nerror_log ${error};\nevents {}\nhttp {\naccess_log off;\n` +
      `client_body_temp_path ${folder}/body;\n${ours}}\n`,
  );
  const child = spawn("nginx", ["-c", file], { stdio: "ignore" });
  const read = (name: string): string => (existsSync(name) ? readFileSync(name, "utf8") : "");
  return { child, port, log: () => read(access) + read(error) };
}

for (const [name, start] of [
  ["haproxy", startLoggingHaproxy],
  ["nginx", startNginx],
] as const) {
  describe(`the logs of ${name} with our configuration, if Debian's package ${name} is here`, () => {
    let folder: string;
    let gateway: Server;
    let proxy: Proxy | undefined;

    before(async function () {
      if (spawnSync(name, ["-v"]).error !== undefined) this.skip();
      folder = mkdtempSync(join(tmpdir(), `kesc-${name}-`));
      gateway = createServer((req, res) => req.resume().on("end", () => res.end("{}")));
      gateway.listen(0, "127.0.0.1");
      await once(gateway, "listening");
      proxy = await start(folder, (gateway.address() as { port: number }).port);
    });
    after(async () => {
      if (proxy === undefined) return;
      const ended = once(proxy.child, "exit");
      proxy.child.kill("SIGTERM");
      await ended;
      gateway.close();
      gateway.closeAllConnections();
      rmSync(folder, { recursive: true });
    });

    /** Resolves with the status, or with 0 if the proxy does not serve. */
    function send(method: string, path: string, body = ""): Promise<number> {
      const url = `https://localhost:${String(proxy?.port)}${path}`;
      return new Promise((done) => {
        const headers = { "content-length": Buffer.byteLength(body) };
        const req = request(url, { method, agent: false, family: 4, ca: readFileSync(TLS_CA_FILE), headers }, (res) => {
          res.resume().on("end", () => {
            done(res.statusCode ?? 0);
          });
        });
        req.on("error", () => {
          done(0);
        });
        req.end(body);
      });
    }
    const logged = (text: string): Promise<void> =>
      eventually(() => proxy?.log().includes(text) === true, { what: () => `no "${text}" in ${proxy?.log() ?? ""}` });

    it("show paths, but no token of a callback and no query, also when the gateway is down", async () => {
      await eventually(async () => (await send("GET", "/accounts/acc_1?phone_number=0711222333")) === 200);
      for (const path of ["/callbacks/secret1", "/v1/callbacks/secret2?secret3", "/callbacks/secret4/more"]) {
        expect(await send("POST", path, "{}")).to.equal(200);
      }
      await logged("/callbacks/***");
      await logged("/accounts/acc_1");
      gateway.close();
      gateway.closeAllConnections();
      expect(await send("POST", "/callbacks/secret5", "{}")).to.be.within(502, 503);
      // More than may be: the proxy itself refuses such a body, or finds no gateway.
      expect(await send("POST", "/callbacks/secret6", "x".repeat(1_100_000))).not.to.equal(200);
      expect(await send("GET", "/supply")).to.be.within(502, 503);
      await logged("/supply");
      expect(proxy?.log()).not.to.match(/secret|0711222333/);
    });
  });
}
