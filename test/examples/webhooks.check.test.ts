import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

import { expect } from "chai";
import { Webhook } from "standardwebhooks";

import { eventually } from "../support/eventually.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";
import { type Received, Receiver } from "../support/webhooks/receiver.js";

const PAGE = readFileSync("docs/webhooks.md", "utf8");
const FIVE_MINUTES_SECONDS = 300;

const lacksPython = spawnSync("python3", ["--version"]).error !== undefined;

/** A request that claims to be a delivery. */
interface Case {
  readonly what: string;
  readonly isGenuine: boolean;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The code block of the page in a language. There is one for each. */
function codeIn(language: string): string {
  const [, code, ...others] = PAGE.split(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "m"));
  if (code === undefined || others.length !== 1) throw new Error(`docs/webhooks.md has no one block of ${language}`);
  return code;
}

async function byJavaScript(cases: readonly Case[]): Promise<boolean[]> {
  const module = (await import(`data:text/javascript,${encodeURIComponent(codeIn("js"))}`)) as {
    isGenuine: (secret: string, headers: Case["headers"], body: string) => boolean;
  };
  return cases.map(({ secret, headers, body }) => module.isGenuine(secret, headers, body));
}

function byPython(cases: readonly Case[]): boolean[] {
  const program = `${codeIn("python")}
import json, sys
print(json.dumps([is_genuine(one["secret"], one["headers"], one["body"].encode()) for one in json.load(sys.stdin)]))`;
  const printed = execFileSync("python3", ["-c", program], { input: JSON.stringify(cases), encoding: "utf8" });
  return JSON.parse(printed) as boolean[];
}

/** What the library of the standard says. */
function byLibrary(cases: readonly Case[]): boolean[] {
  return cases.map(({ secret, headers, body }) => {
    try {
      new Webhook(secret).verify(body, headers);
      return true;
    } catch {
      return false;
    }
  });
}

/** Signs as the service does, at a time that the test chooses. */
function signedAt({ secret, headers, body }: Case, seconds: number): Pick<Case, "headers"> {
  const id = headers["webhook-id"] ?? "";
  const signature = new Webhook(secret).sign(id, new Date(seconds * 1_000), body);
  return { headers: { ...headers, "webhook-timestamp": String(seconds), "webhook-signature": signature } };
}

/** The deliveries, and what others could make of one. */
function casesOf(genuine: readonly Case[], otherSecret: string): readonly Case[] {
  const [one] = genuine;
  if (one === undefined) throw new Error("nothing was delivered");
  const now = Number(one.headers["webhook-timestamp"]);
  const changed = (headers: Case["headers"]): Pick<Case, "headers"> => ({ headers: { ...one.headers, ...headers } });
  const signature = one.headers["webhook-signature"] ?? "";
  const forged = (what: string, changes: Partial<Case>): Case => ({ ...one, ...changes, what, isGenuine: false });
  const right = (what: string, changes: Partial<Case>): Case => ({ ...one, ...changes, what });
  return [
    ...genuine,
    right("a signature among others", changed({ "webhook-signature": `v1,AAAA v2,x ${signature}` })),
    right("a time of four minutes ago", signedAt(one, now - FIVE_MINUTES_SECONDS + 60)),
    forged("a body with another amount", { body: one.body.replace("10.00", "90.00") }),
    forged("a body with a space more", { body: `${one.body} ` }),
    forged("another id", changed({ "webhook-id": "evt_other" })),
    forged("another time", changed({ "webhook-timestamp": String(now + 1) })),
    forged("a time of six minutes ago", signedAt(one, now - FIVE_MINUTES_SECONDS - 60)),
    forged("a time in six minutes", signedAt(one, now + FIVE_MINUTES_SECONDS + 60)),
    forged("a time that is no number", changed({ "webhook-timestamp": "" })),
    forged("the secret of somebody else", { secret: otherSecret }),
    forged("no signature", changed({ "webhook-signature": "" })),
    forged("a signature that is cut", changed({ "webhook-signature": signature.slice(0, -2) })),
    forged("a signature that is no ASCII", changed({ "webhook-signature": "v1,çà" })),
    forged("no header at all", { headers: {} }),
    forged("a signature of another version", changed({ "webhook-signature": signature.replaceAll("v1,", "v2,") })),
  ];
}

describe("the verifiers of docs/webhooks.md", () => {
  let service: InProcess;
  let receiver: Receiver;
  let cases: readonly Case[];

  before(async () => {
    service = await startInProcess("sqlite", undefined, { KESC_WEBHOOKS_ALLOW: "127.0.0.1" });
    receiver = await Receiver.start();
    const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const { status, text, json } = await service.rest.send("POST", path, { key: service.a.key, body });
      if (status >= 300) throw new Error(text);
      return json;
    };
    const created = await post("/webhook-endpoints", { url: receiver.url, types: ["transaction.completed"] });
    const account = await post("/accounts", { user_id: "amina", phone_number: "0712345678" });
    const mint = (reference: string): Promise<unknown> =>
      post("/transactions/mint", { account_id: account["id"], amount: "10.00", reference, description: "çà 💶" });
    // A delivery can come twice, so each is found by what it holds.
    const delivered = async (reference: string): Promise<Received> => {
      const find = (): Received | undefined => receiver.received.find(({ body }) => body.includes(`"${reference}"`));
      await eventually(() => find() !== undefined);
      return find() as Received;
    };
    await mint("first");
    const first = await delivered("first");
    const rotated = await post(`/webhook-endpoints/${String(created["id"])}/rotate-secret`, {});
    const other = await post("/webhook-endpoints", { url: "https://example.com/" });
    // The endpoint has two secrets now, and each verifies what follows.
    await mint("second");
    const second = await delivered("second");
    const secrets = [created["secret"], (rotated["webhook_endpoint"] as { secret: string }).secret].map(String);
    const genuine = [
      { what: "the first delivery", received: first, secret: secrets[0] ?? "" },
      { what: "the second one, by the older secret", received: second, secret: secrets[0] ?? "" },
      { what: "the second one, by the newer secret", received: second, secret: secrets[1] ?? "" },
    ].map(({ what, secret, received: { headers, body } }) => ({ what, secret, headers, body, isGenuine: true }));
    cases = casesOf(genuine, String(other["secret"]));
  });
  after(async () => {
    await receiver.close();
    await service.dispose();
  });

  const named = (found: readonly boolean[]): Record<string, boolean | undefined> =>
    Object.fromEntries(cases.map(({ what }, index) => [what, found[index]]));
  const expected = (): Record<string, boolean | undefined> => named(cases.map(({ isGenuine }) => isGenuine));

  it("agree with the library of the standard: JavaScript", async () => {
    expect(named(await byJavaScript(cases))).to.deep.equal(expected());
  });

  it(`agree with the library of the standard: Python${lacksPython ? " (skipped: this machine lacks python3)" : ""}`, function () {
    if (lacksPython) this.skip();
    expect(named(byPython(cases))).to.deep.equal(expected());
  });

  it("are right about what the library says", () => {
    expect(named(byLibrary(cases))).to.deep.equal(expected());
  });
});
