import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";

import { expect } from "chai";

import { AtOnce, PerMinute } from "../../console/http/limits.js";
import { ask, formTokenIn } from "./browser-like.js";
import { type ConsoleService, startConsoleService } from "./given.js";

const INVITATION = { invitation: "kesc_inv_x", response_json: "{}" };

describe("the console over HTTP", () => {
  let service: ConsoleService;
  let origin: string;
  let org: string;
  let token: string;
  before(async () => {
    service = await startConsoleService();
    ({ origin } = service);
    org = service.demo.organizationId;
    token = service.keys.amina;
  });
  after(() => service.dispose());

  it("sends a policy without exceptions, and HTML that needs none", async () => {
    for (const path of ["/sign-in", `/${org}`, `/${org}/supply`, "/people"]) {
      const { status, headers, html } = await ask(origin, path, { token });
      expect(status, path).to.equal(200);
      expect(headers["content-security-policy"], path)
        .to.include("default-src 'none'")
        .and.include("frame-ancestors 'none'")
        .and.include("trusted-types 'none'")
        .and.not.include("unsafe");
      expect(headers, path).to.include({
        "cache-control": "no-store",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "same-origin",
        "x-content-type-options": "nosniff",
      });
      expect(html, path).not.to.match(/ style=| on[a-z]+=|<style|javascript:|<script(?! src="\/assets\/)/);
    }
  });

  it("serves the style and the script for a year, under a name that changes with them", async () => {
    const { html } = await ask(origin, "/sign-in");
    const paths = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
    expect(paths).to.have.length(3);
    for (const path of paths) {
      const { status, headers } = await ask(origin, path);
      expect(status, path).to.equal(200);
      expect(headers["cache-control"], path).to.include("immutable");
    }
  });

  it("refuses a name that is not its own with 421, so no page can point its name at the loopback", async () => {
    for (const host of ["evil.example", `127.0.0.1:${new URL(origin).port}`, "localhost:1"]) {
      const { status, html } = await ask(origin, `/${org}`, { token, headers: { host } });
      expect({ status, words: html.includes(`This console is at ${origin}.`) }, host).to.deep.equal({
        status: 421,
        words: true,
      });
    }
    expect((await ask(origin, "/livez", { headers: { host: "10.0.0.7" } })).status).to.equal(200);
  });

  it("leads who is not signed in to the sign-in, and from there back to the page", async () => {
    for (const given of [undefined, "kesc_ses_unknown", `kesc_op_${"a".repeat(43)}`]) {
      const { status, headers } = await ask(
        origin,
        `/${org}/supply?as_of=row-3`,
        given === undefined ? {} : { token: given },
      );
      expect(status).to.equal(303);
      expect(headers.location).to.equal(`/sign-in?next=%2F${org}%2Fsupply%3Fas_of%3Drow-3`);
    }
    expect((await ask(origin, `/sign-in?next=%2F${org}`)).html).to.include(`name="next" value="/${org}"`);
    for (const elsewhere of ["//evil.example", "https://evil.example", "/\\evil.example", "#x"]) {
      const { html } = await ask(origin, `/sign-in?next=${encodeURIComponent(elsewhere)}`);
      expect(html, elsewhere).to.include('name="next" value="/"');
    }
  });

  it("does not know a page of another form, or an organization that is not there", async () => {
    const other = "org_01jd2r6p5vf8ksw3xhb1z7q4ye";
    for (const path of [
      "/nothing",
      `/${org}/nothing`,
      `/${other}`,
      `/${org}/accounts/acc_1`,
      `/${org}/journal/row-999999`,
    ]) {
      const { status, html } = await ask(origin, path, { token });
      expect(status, path).to.equal(404);
      expect(html, path).to.include("There is no such page");
    }
  });

  it("refuses a form of another site, another port, another session, or of nobody", async () => {
    const page = await ask(origin, `/${org}`, { token });
    const form = { text: "#1", form_token: formTokenIn(page.html, `/${org}/find`) };
    const cases: readonly (readonly [string, Parameters<typeof ask>[2]])[] = [
      ["cross-site", { token, form, headers: { "sec-fetch-site": "cross-site" } }],
      ["a page of the same site", { token, form, headers: { "sec-fetch-site": "same-site" } }],
      ["another origin", { token, form, headers: { origin: "http://localhost:8080" } }],
      ["no origin", { token, form, headers: { origin: "" } }],
      ["a null origin", { token, form, headers: { origin: "null" } }],
      ["no token", { token, form: { text: "#1" } }],
      ["the token of another session", { token: service.keys.brian, form }],
      ["the token of another form", { token, form: { text: "#1", form_token: formTokenIn(page.html, "/sign-out") } }],
    ];
    for (const [name, call] of cases) expect((await ask(origin, `/${org}/find`, call)).status, name).to.equal(403);
    // A browser from before 2023 sends no Sec-Fetch-Site.
    const old = await ask(origin, `/${org}/find`, { token, form, headers: { "sec-fetch-site": "" } });
    expect([200, 303]).to.include(old.status);
  });

  it("refuses a form of more than 64 KiB", async () => {
    const form = { token: "x".repeat(64 * 1_024) };
    expect((await ask(origin, "/sign-in/code", { form })).status).to.equal(413);
  });

  it("closes a connection whose form has not arrived: a proxy could send the next request behind half a form", async () => {
    const { host, port } = new URL(origin);
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(`POST /sign-in/code HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100\r\n\r\ntoken=`);
    expect(await text(socket)).to.match(/^HTTP\/1.1 403 .+\r\n(?:.+\r\n)*Connection: close\r\n/);
  });

  it("signs a person in with a code, once, and out again", async () => {
    const [first] = await service.links();
    const { pathname, search, searchParams } = new URL(first?.link ?? "");
    const code = searchParams.get("code") ?? "";
    // A preview of the link uses nothing up.
    for (const time of ["first", "second"]) {
      const { html } = await ask(origin, pathname + search);
      expect(html, time).to.include("Sign in as").and.include("Amina");
    }
    const begun = await ask(origin, "/sign-in", { form: { code, next: `/${org}` } });
    expect(begun.status).to.equal(303);
    expect(begun.headers.location).to.equal(`/${org}`);
    const [cookie = ""] = begun.headers["set-cookie"] ?? [];
    expect(cookie).to.match(/^kesc-[0-9]+=kesc_ses_[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    const session = cookie.split(";")[0]?.split("=")[1] ?? "";
    const page = await ask(origin, `/${org}`, { token: session });
    expect(page.html).to.include("Amina");

    expect((await ask(origin, "/sign-in", { form: { code } })).status).to.equal(403);
    const form_token = formTokenIn(page.html, "/sign-out");
    const out = await ask(origin, "/sign-out", { token: session, form: { form_token } });
    expect(out.headers).to.include({ location: "/sign-in", "clear-site-data": '"cache", "storage"' });
    expect(out.headers["set-cookie"]?.[0]).to.include("Max-Age=0");
    expect((await ask(origin, `/${org}`, { token: session })).status).to.equal(303);
  });

  it("shows ten pages that one person opens at once, whole", async () => {
    const pages = await Promise.all(Array.from({ length: 10 }, () => ask(origin, `/${org}`, { token })));
    for (const { html } of pages) expect(html).not.to.include("Try again");
  });

  it("bounds the tries of an address to sign in: ten a minute of each step", async () => {
    const statuses: number[] = [];
    for (let time = 0; time < 11; time += 1) {
      statuses.push((await ask(origin, "/invitation", { form: INVITATION })).status);
    }
    expect(statuses.slice(0, 10)).to.deep.equal(Array<number>(10).fill(403));
    expect(statuses[10]).to.equal(429);
    // Nobody is between this console and a browser, so the header is forged.
    const headers = { "x-forwarded-for": "10.0.0.1, 203.0.113.7" };
    expect((await ask(origin, "/invitation", { form: INVITATION, headers })).status).to.equal(429);
    expect((await ask(origin, "/invitation", { form: INVITATION, from: "127.0.0.2" })).status).to.equal(403);
  });

  it("takes the address from a proxy where one ends TLS, so that nobody locks another person out", async () => {
    const proxied = await service.startConsole("https://console.example.com");
    const statusOf = async (address: string): Promise<number> => {
      const headers = {
        ...{ host: "console.example.com", origin: "https://console.example.com" },
        "x-forwarded-for": `10.0.0.1, ${address}`,
      };
      return (await ask(proxied, "/invitation", { form: INVITATION, headers })).status;
    };
    for (let time = 0; time < 10; time += 1) await statusOf("203.0.113.7");
    expect([await statusOf("203.0.113.7"), await statusOf("203.0.113.8")]).to.deep.equal([429, 403]);
  });

  it("refuses a request with two hosts: a proxy may take the other one", async () => {
    const { host, port } = new URL(origin);
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(`GET /sign-in HTTP/1.1\r\nHost: ${host}\r\nHost: evil.example\r\n\r\n`);
    const response = await text(socket);
    expect(response)
      .to.match(/^HTTP\/1.1 400 /)
      .and.include("The header Host must be sent only once.");
  });

  it("gives one address half of its connections, however many it opens", async () => {
    const { port } = new URL(await service.startConsole(origin, { connectionsMax: 4 }));
    const sockets = Array.from({ length: 4 }, () => connect(Number(port), "127.0.0.1").resume());
    const ended = sockets.map((socket) =>
      once(
        socket.on("error", () => undefined),
        "close",
      ),
    );
    try {
      await Promise.all(ended.slice(2));
      expect(sockets.map(({ readyState }) => readyState)).to.deep.equal(["open", "open", "closed", "closed"]);
      const asked = ask(`http://localhost:${port}`, "/livez", { from: "127.0.0.2" });
      expect((await asked).status).to.equal(200);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  it("bounds the searches and the pages of one person, and of nobody else", () => {
    const searches = new PerMinute(60);
    expect(Array.from({ length: 61 }, () => searches.take("amina")).lastIndexOf(true)).to.equal(59);
    expect(searches.take("brian")).to.equal(true);
    const pages = new AtOnce(16);
    expect(Array.from({ length: 17 }, () => pages.enter("amina")).lastIndexOf(true)).to.equal(15);
    expect(pages.enter("brian")).to.equal(true);
    pages.leave("amina");
    expect(pages.enter("amina")).to.equal(true);
  });

  it("logs the route, the person, the status and the time, and nothing that somebody typed", async () => {
    service.lines.length = 0;
    const page = await ask(origin, `/${org}/journal?account=acc_typed`, { token });
    await ask(origin, `/${org}/find`, {
      token,
      form: { text: "0712345678", form_token: formTokenIn(page.html, `/${org}/find`) },
    });
    const all = service.lines.join("");
    expect(all).to.include('"route":"/:org/find"').and.include('"person":"opr_');
    expect(all).not.to.include("0712345678").and.not.include("acc_typed").and.not.include(token);
  });
});
