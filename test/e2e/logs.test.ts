import { readdirSync, readFileSync } from "node:fs";

import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import pg from "pg";

import type { Route } from "../../contract/contract.js";
import { ROUTES } from "../support/callers/contract-requests.js";
import { ENGINES_OF_STAGE } from "../support/databases.js";
import { type Ended, kesc } from "../support/service/kesc.js";
import { secretsIn } from "../support/service/secrets.js";
import { Service } from "../support/service/service.js";

const PHONE = "+254722000111";
const EMAIL = "private@example.com";
const WRONG_KEY = `kesc_${"a".repeat(43)}`;
const PASSWORD = "hunter2";

/** The command line and the process title of `kesc serve` and of each of its children. */
function commandLines(servePid: number): string[] {
  const pids = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  const read = (pid: string, file: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "utf8").replaceAll("\0", " ");
    } catch {
      return ""; // it has ended meanwhile
    }
  };
  const parentOf = (pid: string): number => Number(/^PPid:\s+([0-9]+)$/m.exec(read(pid, "status"))?.[1]);
  return pids
    .filter((pid) => Number(pid) === servePid || parentOf(pid) === servePid)
    .map((pid) => `${read(pid, "cmdline")}; ${read(pid, "comm")}`);
}

/** Makes every mistake that a caller can make, with secrets in every place that takes a text. */
async function callEverythingWrong(service: Service): Promise<string[]> {
  const everywhere = (route: Route): string =>
    JSON.stringify(Object.fromEntries(route.rpc.input.fields.map(({ name }) => [name, `${PHONE} ${EMAIL}`])));
  for (const route of ROUTES) {
    const { method } = route;
    const path = `/${route.path.segments.map(({ kind, name }) => (kind === "field" ? PHONE : name)).join("/")}`;
    const query = `?email=${EMAIL}&phone_number=${encodeURIComponent(PHONE)}&reference=${EMAIL}`;
    const body = method === "GET" ? undefined : everywhere(route);
    await service.rest(method, path + query, { body });
    await service.rest(method, path, { key: WRONG_KEY, body });
    const bearer = { authorization: `Bearer ${service.a.key}é`, cookie: PHONE };
    await service.rest(method, path, { key: "", headers: bearer, body });
    await service.rest(method, path, { headers: { "idempotency-key": `${EMAIL} ${PHONE}` }, body });
    if (method === "GET") continue;
    await service.rest(method, path, { body: `{"phone_number": "${PHONE}", "email": ${EMAIL}}` });
    await service.rest(method, path, { headers: { "content-type": EMAIL }, body });
  }
  for (const path of [`/${PHONE}`, `/accounts/${EMAIL}/${PHONE}`, `/%ff${EMAIL}`, `/v1/accounts/${EMAIL}`]) {
    await service.rest("GET", path);
  }

  const mine = { user_id: "private-user", phone_number: PHONE, email: EMAIL };
  await service.rest("POST", "/accounts", { body: mine });
  const taken = await service.rest("POST", "/accounts", { body: { ...mine, phone_number: "0733444555" } });
  const request = { ...mine, user_id: `${EMAIL}\n`, phone_number: `${PHONE}0` };
  const refused = [
    await service.grpc.call("CreateAccount", request),
    await service.grpc.call("CreateAccount", request, { key: WRONG_KEY }),
    await service.grpc.call("Mint", { account_id: PHONE, amount: EMAIL, reference: EMAIL }),
  ];
  await service.grpc.call("ListAccounts", { email: EMAIL, phone_number: "0722000111" });
  return [taken.text, ...refused.map(({ message }) => message)];
}

/** Makes the database refuse writes in its own words. The returned function repairs it. */
async function breakDatabase(service: Service): Promise<() => Promise<void>> {
  const url = service.databaseUrl;
  if (url.startsWith("sqlite:")) {
    const database = new BetterSqlite3(url.replace("sqlite:", ""));
    database.exec(`CREATE TRIGGER no_more BEFORE INSERT ON accounts BEGIN SELECT RAISE(ABORT, 'no more'); END`);
    return () => {
      database.exec("DROP TRIGGER no_more");
      database.close();
      return Promise.resolve();
    };
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // PostgreSQL quotes the whole row that it refuses.
  await client.query("ALTER TABLE account_holders ADD CONSTRAINT no_more CHECK (user_id <> 'unlucky') NOT VALID");
  return async () => {
    await client.query("ALTER TABLE account_holders DROP CONSTRAINT no_more");
    await client.end();
  };
}

for (const engine of ENGINES_OF_STAGE) {
  describe(`what the programs print (${engine})`, () => {
    let printed = "";
    let answers = "";
    let processes: string[] = [];
    let ownKey = "";

    before(async () => {
      const service = await Service.start(engine, { KESC_LOG_LEVEL: "trace" });
      try {
        ownKey = service.a.key;
        const headers = {
          "x-request-id": "monday-morning",
          traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        };
        await service.rest("POST", "/accounts", { body: { user_id: "first", phone_number: PHONE }, headers });
        const heard = await callEverythingWrong(service);
        const repair = await breakDatabase(service);
        const refused = { user_id: "unlucky", phone_number: PHONE, email: EMAIL };
        heard.push((await service.rest("POST", "/accounts", { body: refused })).text);
        heard.push((await service.grpc.call("CreateAccount", refused)).message);
        await repair();
        answers = heard.join("\n");
        if (process.platform === "linux") processes = commandLines(service.pid);
        expect(await service.stop()).to.equal(0);
        printed = service.printed();
      } finally {
        await service.dispose();
      }
    });

    it("has a line for each call in both programs, joined by the request id and the trace id", () => {
      const lines = printed
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      const ofOneCall = lines.filter((line) => line["request_id"] === "monday-morning");
      expect(ofOneCall.map((line) => line["method"])).to.have.members(["AccountService/CreateAccount", "POST"]);
      for (const line of ofOneCall) {
        expect(line).to.include({ level: "info", trace_id: "4bf92f3577b34da6a3ce929d0e0e4736" });
      }
    });

    it("has no secret, whatever the callers get wrong and the database says", () => {
      expect(printed).to.include('"trace":').and.to.include('"INVALID_FIELD"');
      expect(secretsIn(printed)).to.deep.equal([]);
      for (const word of [PHONE.slice(4), "733444555", "private", "unlucky"]) expect(printed).to.not.include(word);
    });

    it("shows no caller another's account, or the words of the database", () => {
      expect(answers).to.include("An internal error");
      for (const word of [PHONE.slice(4), EMAIL, ownKey, "no_more"]) expect(answers).to.not.include(word);
    });

    it("has no secret on its command line", function () {
      if (process.platform !== "linux") this.skip();
      expect(processes).to.have.lengthOf(1);
      expect(secretsIn(processes.join("\n"))).to.deep.equal([]);
    });
  });
}

describe("what the kesc command prints", () => {
  const url = `postgres://kesc:${PASSWORD}@127.0.0.1:1/kesc`;
  const secret = WRONG_KEY;

  const ROWS = [
    ["the database can't be reached", ["serve"], { DATABASE_URL: url }],
    ["the database can't be reached, in detail", ["verify"], { DATABASE_URL: url, KESC_LOG_LEVEL: "trace" }],
    ["the database's URL is none", ["migrate"], { DATABASE_URL: `postgres//kesc:${PASSWORD}@db` }],
    ["a secret stands where an id belongs", ["key", "revoke", secret], {}],
    ["a secret stands where an organization belongs", ["key", "list", "--org", secret], {}],
    ["a secret stands where a scope belongs", ["key", "create", "--org", "x", "--name", "x", "--scopes", secret], {}],
    ["a secret stands where a command belongs", [secret], {}],
  ] as const;

  /** The result of each row. */
  let ended: readonly Ended[];
  before(async () => {
    const elsewhere = { DATABASE_URL: "sqlite:/nowhere/at/all/kesc.db" };
    ended = await Promise.all(ROWS.map(([, args, variables]) => kesc(args, { ...elsewhere, ...variables })));
  });

  for (const [index, [what]] of ROWS.entries()) {
    it(`has no secret when ${what}`, () => {
      const { code, stdout, stderr } = ended[index] ?? { code: 0, stdout: "", stderr: "" };
      expect(code).to.not.equal(0);
      expect(stderr).to.not.equal("");
      expect(stdout + stderr).to.not.include(PASSWORD);
      expect(secretsIn(stdout + stderr)).to.deep.equal([]);
    });
  }
});
