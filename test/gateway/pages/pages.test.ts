import { expect } from "chai";

import { GatewayFixture } from "../../support/gateway/fixture.js";
import { OPENAPI_TEXT } from "../../support/openapi/document.js";

const HTML = { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" };
const PATHS = [
  "/",
  "/errors",
  "/style.css",
  "/favicon.ico",
  "/openapi.json",
  "/docs",
  "/docs/start.js",
  "/docs/swagger-ui.css",
  "/docs/guides",
  "/docs/guides/integrate",
  "/docs/guides/api",
];

describe("the pages", () => {
  const fixture = GatewayFixture.ofSuite();

  it("at / say where to go: HTML for browsers, plain text for all others", async () => {
    const html = await fixture.send("GET", "/", { headers: HTML });
    expect(html.headers["content-type"]).to.equal("text/html; charset=utf-8");
    expect(html.text).to.include('<a href="/docs">/docs</a>');
    for (const headers of [{}, { accept: "*/*" }, { accept: "text/plain" }]) {
      const plain = await fixture.send("GET", "/", { headers });
      expect(plain.headers["content-type"]).to.equal("text/plain; charset=utf-8");
      expect(plain.text).to.match(/^KESC\n\n/);
      expect(plain.text).to.match(/^\/docs +every call/m);
    }
    const other = await fixture.send("GET", "/errors/invalid-field", { headers: { accept: "application/json" } });
    expect([other.status, other.json["code"]]).to.deep.equal([406, "NOT_ACCEPTABLE"]);
  });

  it("say the same in both forms", async () => {
    for (const path of ["/", "/errors", "/errors/invalid-field", "/docs/guides"]) {
      const { text } = await fixture.send("GET", path);
      const html = (await fixture.send("GET", path, { headers: HTML })).text;
      const words = (given: string): string[] => given.match(/[\w/.]+/g) ?? [];
      const body = html
        .slice(html.indexOf("<main>"))
        .replaceAll(/<[^>]+>/g, " ")
        .replaceAll("&quot;", '"')
        .replaceAll("&amp;", "&");
      expect(words(body), path).to.deep.equal(words(text));
    }
  });

  it("at /openapi.json are the document of the contract", async () => {
    const { text, headers } = await fixture.send("GET", "/openapi.json");
    expect(text === OPENAPI_TEXT).to.equal(true);
    expect(headers["content-type"]).to.equal("application/json; charset=utf-8");
    expect(headers["access-control-allow-origin"]).to.equal("*");
  });

  for (const path of PATHS) {
    it(`at ${path} need no key, may be kept, and run no script but ours`, async () => {
      const { status, headers } = await fixture.send("GET", path, { headers: HTML });
      expect(status).to.equal(200);
      expect(headers["cache-control"]).to.equal("no-cache");
      expect(headers["x-content-type-options"]).to.equal("nosniff");
      const policy = String(headers["content-security-policy"]);
      expect(policy).to.match(/^default-src 'none'/);
      expect(policy).not.to.match(/unsafe|https?:|\*/);
      const again = await fixture.send("GET", path, { headers: { ...HTML, "if-none-match": String(headers.etag) } });
      expect([again.status, again.text, again.headers.etag]).to.deep.equal([304, "", headers.etag]);
      const changed = await fixture.send("GET", path, { headers: { ...HTML, "if-none-match": 'W/"another"' } });
      expect(changed.status).to.equal(200);
    });
  }

  it("have other etags in other forms", async () => {
    const [plain, html] = [await fixture.send("GET", "/"), await fixture.send("GET", "/", { headers: HTML })];
    expect(plain.headers.etag).not.to.equal(html.headers.etag);
    expect(html.headers.vary).to.equal("Accept, Accept-Encoding");
  });

  it("are compressed for clients that take it", async () => {
    const response = await fetch(`http://${fixture.gateway.address}/openapi.json`, {
      headers: { "accept-encoding": "gzip" },
    });
    expect(response.headers.get("content-encoding")).to.equal("gzip");
    expect(Number(response.headers.get("content-length"))).to.be.lessThan(OPENAPI_TEXT.length / 5);
    expect((await response.text()) === OPENAPI_TEXT).to.equal(true);
    const small = await fetch(`http://${fixture.gateway.address}/style.css`, {
      headers: { "accept-encoding": "identity" },
    });
    expect(small.headers.get("content-encoding")).to.equal(null);
  });

  it("show no script and no style inside, and name no other host", async () => {
    for (const path of ["/", "/errors", "/docs"]) {
      const { text } = await fixture.send("GET", path, { headers: HTML });
      expect(text, path).not.to.match(/<script(?![^>]* src="\/)|<style| style=| on[a-z]+=|https?:/);
    }
  });

  for (const path of [
    "/docs/",
    "/docs/..",
    "/docs/../package.json",
    "/docs/%2e%2e/package.json",
    "/docs/..%2fpackage.json",
    "/docs/LICENSE",
    "/docs/swagger-ui-bundle.js.LICENSE.txt",
    "/v1/docs",
    "/v1/openapi.json",
    "/style.css/",
    "/__proto__",
    "/constructor",
  ]) {
    it(`do not include ${path}`, async () => {
      const { status, json } = await fixture.send("GET", path);
      expect([status, json["code"]]).to.deep.equal([404, "NO_SUCH_ROUTE"]);
    });
  }

  it("take no method but GET, HEAD and OPTIONS", async () => {
    const head = await fixture.send("HEAD", "/docs");
    expect([head.status, head.text]).to.deep.equal([200, ""]);
    expect(Number(head.headers["content-length"])).to.be.greaterThan(100);
    expect((await fixture.send("OPTIONS", "/docs")).headers.allow).to.equal("GET, HEAD, OPTIONS");
    expect((await fixture.send("POST", "/docs")).json["code"]).to.equal("METHOD_NOT_ALLOWED");
  });

  it("call no rpc", () => {
    expect(fixture.server.calls).to.deep.equal([]);
  });

  it("are named in the log by their path", async () => {
    await fixture.send("GET", "/errors");
    expect(fixture.logLines.at(-1)).to.include({ route: "/errors", status: 200 });
  });
});

describe("a gateway with KESC_PUBLIC_URL", () => {
  const fixture = GatewayFixture.ofSuite({ publicUrl: "https://kesc.example.com/api" });

  it("begins the type of each problem with it", async () => {
    const { json } = await fixture.send("GET", "/nowhere");
    expect(json["type"]).to.equal("https://kesc.example.com/api/errors/no-such-route");
  });

  it("begins each location with it", async () => {
    fixture.server.handle = () => ({ message: { transaction: { id: "txn_1" } } });
    const { headers } = await fixture.send("POST", "/v1/transactions/mint", { body: "{}" });
    expect(headers.location).to.equal("https://kesc.example.com/api/v1/transactions/txn_1");
  });

  it("names it as the server of the OpenAPI document", async () => {
    const { json } = await fixture.send("GET", "/openapi.json");
    const urls = (json["servers"] as { url: string }[]).map(({ url }) => url);
    expect(urls).to.deep.equal(["https://kesc.example.com/api", "https://kesc.example.com/api/v1"]);
  });

  it("begins the links of its pages with its path, so that they work from any host", async () => {
    for (const path of ["/", "/errors", "/docs", "/docs/guides/integrate"]) {
      const { text } = await fixture.send("GET", path, { headers: HTML });
      const links = Array.from(text.matchAll(/ (?:href|src)="(\/[^"]*)"/g), ([, link = ""]) => link);
      expect(links, path).not.to.deep.equal([]);
      expect(links.filter((link) => !link.startsWith("/api/"))).to.deep.equal([]);
    }
    expect((await fixture.send("GET", "/docs/start.js")).text)
      .to.include('fetch("/api/openapi.json")')
      .and.include("ORIGIN/api/accounts");
  });
});

describe("a gateway with KESC_DOCS=false", () => {
  const fixture = GatewayFixture.ofSuite({ hasDocs: false });

  it("has no /docs, and does not lead there", async () => {
    for (const path of ["/docs", "/docs/start.js", "/docs/swagger-ui-bundle.js", "/docs/guides", "/docs/guides/api"]) {
      expect((await fixture.send("GET", path)).status, path).to.equal(404);
    }
    expect((await fixture.send("GET", "/")).text).not.to.include("/docs");
  });

  it("has the other pages", async () => {
    for (const path of ["/", "/errors", "/openapi.json"])
      expect((await fixture.send("GET", path)).status).to.equal(200);
  });
});
