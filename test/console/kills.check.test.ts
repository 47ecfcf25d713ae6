import { setTimeout as sleep } from "node:timers/promises";

import { credentials } from "@grpc/grpc-js";
import { expect } from "chai";

import { KescClient } from "../../client/kesc-client.js";
import { makeDemo } from "../../src/cli/commands/demo.js";
import { DemoPeople, type DemoPerson } from "../../src/cli/commands/demo-people.js";
import { verify } from "../../src/verify/verify.js";
import { Random } from "../attack/random.js";
import { openDatabaseAt } from "../support/databases.js";
import { freePort } from "../support/postgres-node.js";
import { kesc, Place, RunningKesc, type Variables } from "../support/service/kesc.js";
import { SEED, STAGE } from "../support/stage.js";
import { ask, fieldsIn, type Page, signInWith, textOf } from "./browser-like.js";

const KILLS = STAGE === "nightly" ? 200 : 12;
/** An act takes about as long. A later kill meets the page that was sent already. */
const KILL_AFTER_MILLIS_MAX = 40;
const TRIES_MAX = 6;
const RECONNECT_MILLIS = 1_000;

/** A program on its own port that is started again after each kill. */
class Killed {
  readonly #program: string;
  readonly #variables: Variables;
  #running: RunningKesc | undefined;

  constructor(program: string, variables: Variables) {
    this.#program = program;
    this.#variables = variables;
  }

  async start(): Promise<void> {
    this.#running = new RunningKesc([this.#program], this.#variables);
    await this.#running.ready;
  }

  async kill(): Promise<void> {
    await this.#running?.end("SIGKILL");
    await this.start();
  }

  async stop(): Promise<void> {
    await this.#running?.end();
  }
}

/** Signs the first person in with a code. Returns the token of the session. */
async function signIn(origin: string, demoPeople: readonly DemoPerson[], operators: string): Promise<string> {
  const people = new DemoPeople(demoPeople, operators, credentials.createInsecure());
  const [first] = await people.links();
  people.close();
  return signInWith(origin, first?.link);
}

const has =
  (text: string) =>
  ({ html }: Page): boolean =>
    html.includes(text);

/** Loads a page again until it is whole: after a kill the console connects within a second. */
async function untilIt(isWhole: (page: Page) => boolean, load: () => Promise<Page>): Promise<Page> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const page = await load();
    if (isWhole(page)) return page;
    await sleep(RECONNECT_MILLIS);
  }
  throw new Error("the page is never whole");
}

describe("the console and its server under kills with -9", () => {
  it(`say done, not done, or not known, and do each act once: ${String(KILLS)} kills`, async () => {
    const place = new Place();
    const [grpc, operators, http] = [await freePort(), await freePort(), await freePort()];
    const origin = `http://localhost:${String(http)}`;
    const variables = {
      ...place.variables,
      KESC_GRPC_ADDRESS: `127.0.0.1:${String(grpc)}`,
      KESC_OPERATOR_ADDRESS: `127.0.0.1:${String(operators)}`,
      KESC_CONSOLE_ADDRESS: `127.0.0.1:${String(http)}`,
      KESC_CONSOLE_ORIGIN: origin,
      KESC_LOG_LEVEL: "fatal",
    };
    await kesc(["migrate"], variables);
    const database = await openDatabaseAt(place.databaseUrl);
    const { organizationId, secret = "", people } = await makeDemo(database);
    await database.close();
    const programs = [new Killed("server", variables), new Killed("console", variables)] as const;
    for (const program of programs) await program.start();
    const session = await signIn(origin, people, variables.KESC_OPERATOR_ADDRESS);
    const client = new KescClient({ address: variables.KESC_GRPC_ADDRESS, apiKey: secret });
    const [amina = "", brian = ""] = people.map(({ key }) => key);
    const random = new Random(SEED);
    const says: Record<string, number> = {};
    let kills = 0;

    /** Presses a button, and presses it again until the page says what became of it. */
    const press = async (path: string, token: string, fields: Readonly<Record<string, string>>): Promise<string> => {
      let form = fields;
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        const answer = ask(origin, path, { token, form }).catch(() => undefined);
        if (kills < KILLS && tries < TRIES_MAX - 2) {
          await sleep(random.between(0, KILL_AFTER_MILLIS_MAX));
          await random.pick(programs).kill();
          kills += 1;
        }
        const page = await answer;
        const [said = page === undefined ? "no page" : String(page.status)] =
          /Done|Already done|Redirecting|Unknown whether/.exec(textOf(page?.html ?? "")) ?? [];
        says[said] = (says[said] ?? 0) + 1;
        // The console connects again within a second.
        if (said === "503") await sleep(RECONNECT_MILLIS);
        if (page !== undefined && /^(Done|Already done|Redirecting)/.test(said)) return page.html;
        if (said === "Unknown whether" && page !== undefined) form = fieldsIn(page.html, path);
      }
      throw new Error(`nothing became of ${path}: ${JSON.stringify(says)}`);
    };
    const act = async (name: string, token: string, given: Record<string, string>, note: string): Promise<string> => {
      const path = `/${organizationId}/acts/${name}`;
      const query = new URLSearchParams(given).toString();
      const question = await untilIt(has('value="do"'), () => ask(origin, `${path}?${query}`, { token }));
      return press(path, token, { ...fieldsIn(question.html, path), reason: "fraud", note });
    };

    for (let round = 0; kills < KILLS; round += 1) {
      const phone_number = `07120${String(10_000 + round)}`;
      const created = await client.accounts.createAccount({ user_id: `user ${String(round)}`, phone_number });
      const account_id = created.account.id;
      await act("freeze", amina, { account_id }, "case");
      const [freeze, ...others] = (await client.accounts.getAccount({ account_id })).account.freezes;
      expect(others).to.deep.equal([]);
      const proposed = await act("unfreeze", amina, { account_id, freeze_id: freeze?.id ?? "" }, "closed");
      const [proposal_id = ""] = /prp_[0-9a-z]{26}/.exec(proposed) ?? [];
      await act("approve", brian, { proposal_id }, "compared");
      expect((await client.accounts.getAccount({ account_id })).account.status).to.equal("active");
      // No other proposal waits: that of the freeze was made once.
      await untilIt(has("Nothing is waiting for you."), () =>
        ask(origin, `/${organizationId}/approvals`, { token: brian }),
      );
    }

    // The session goes on.
    await untilIt(has("Today"), () => ask(origin, `/${organizationId}`, { token: session }));
    client.close();
    for (const program of programs) await program.stop();
    const books = await openDatabaseAt(place.databaseUrl);
    expect((await verify(books)).findingsCount).to.equal(0);
    await books.close();
    place.remove();
  }).timeout(KILLS * 20_000);
});
