import { readdirSync, readFileSync } from "node:fs";

import { expect } from "chai";

import { GUIDES, GUIDES_PATH } from "../../../gateway/pages/guide-list.js";
import { htmlOfMarkdown } from "../../../gateway/pages/markdown.js";
import { GatewayFixture } from "../../support/gateway/fixture.js";

const HTML = { accept: "text/html" };
const ALL = Object.values(GUIDES).flat();
/** Documents of operators, which name machines and weak points. */
const NOT_SERVED = ["operations", "runbook", "security", "deploy", "production", "architecture"];

describe("the guides", () => {
  const fixture = GatewayFixture.ofSuite();

  async function htmlAt(path: string): Promise<string> {
    const { status, text } = await fixture.send("GET", path, { headers: HTML });
    expect(status, path).to.equal(200);
    return text;
  }

  it("are listed, in a page that / and /docs lead to", async () => {
    expect(await htmlAt("/")).to.include(`<a href="${GUIDES_PATH}">`);
    expect(await htmlAt("/docs")).to.include(`<a href="${GUIDES_PATH}">`);
    const index = await htmlAt(GUIDES_PATH);
    for (const { name, label } of ALL) expect(index).to.include(`<a href="${GUIDES_PATH}/${name}">${label}</a>`);
    expect((await fixture.send("GET", GUIDES_PATH)).text).to.match(/^Guides\n\n/);
  });

  it("have names of their own, and files that exist", () => {
    expect(new Set(ALL.map(({ name }) => name)).size).to.equal(ALL.length);
    const files = readdirSync("docs");
    expect(files).to.include.members(ALL.map(({ file }) => file));
  });

  for (const { name, file, label } of ALL) {
    it(`at ${GUIDES_PATH}/${name} is ${file}: a page for browsers, and its own text for all others`, async () => {
      const html = await htmlAt(`${GUIDES_PATH}/${name}`);
      expect(html)
        .to.include(`<title>${label} · KESC</title>`)
        .and.match(/<main>\n<h1 id="[^"]+">/);
      expect(html).to.include(`<a href="${GUIDES_PATH}/${name}" aria-current="page">`);
      const plain = await fixture.send("GET", `${GUIDES_PATH}/${name}`);
      expect(plain.headers["content-type"]).to.equal("text/plain; charset=utf-8");
      expect(plain.text).to.equal(readFileSync(`docs/${file}`, "utf8"));
      const head = await fixture.send("HEAD", `${GUIDES_PATH}/${name}`, { headers: HTML });
      expect([head.status, head.text]).to.deep.equal([200, ""]);
    });

    it(`at ${GUIDES_PATH}/${name} runs nothing, and each of its links leads somewhere`, async () => {
      const html = await htmlAt(`${GUIDES_PATH}/${name}`);
      expect(html).not.to.match(/<script|<style|<img|<iframe| style=| on[a-z]+="|javascript:/i);
      for (const [, href = ""] of html.matchAll(/ href="([^"]*)"/g)) {
        if (href.startsWith("https://")) continue;
        const [path = "", anchor] = href.split("#");
        expect(href).to.match(/^[/#]/);
        const target = path === "" ? html : await htmlAt(path);
        if (anchor !== undefined) expect(target, href).to.include(` id="${anchor}"`);
      }
    });
  }

  for (const path of [
    `${GUIDES_PATH}/`,
    `${GUIDES_PATH}/integrate/`,
    `${GUIDES_PATH}/integrate.md`,
    `${GUIDES_PATH}/docs/integrate`,
    `${GUIDES_PATH}/README`,
    `${GUIDES_PATH}/constructor`,
    `${GUIDES_PATH}/..%2fsecurity.md`,
    `${GUIDES_PATH}/%2e%2e/security.md`,
    ...NOT_SERVED.map((name) => `${GUIDES_PATH}/${name}`),
  ]) {
    it(`do not include ${path}`, async () => {
      const { status, json } = await fixture.send("GET", path);
      expect([status, json["code"]]).to.deep.equal([404, "NO_SUCH_ROUTE"]);
    });
  }
});

describe("a document as HTML", () => {
  const html = (text: string): string =>
    htmlOfMarkdown(text, (href) => (href.startsWith("/") ? href : undefined)).trim();

  for (const [what, text, expected] of [
    ["shows HTML as text", "a <b onclick=x>c</b>", "<p>a &lt;b onclick=x&gt;c&lt;/b&gt;</p>"],
    ["shows a block of HTML as text", "<script>x</script>", "&lt;script&gt;x&lt;/script&gt;"],
    ["follows no link but those that it may", "[a](javascript:x) [b](/b)", '<p>a <a href="/b">b</a></p>'],
    ["makes no link of an address", "http://127.0.0.1/ <http://x.y>", "<p>http://127.0.0.1/ http://x.y</p>"],
    ["leaves pictures out", "![a picture](images/a.png)", "<p>a picture</p>"],
    ["escapes a link", '[a](/b"c)', '<p><a href="/b&quot;c">a</a></p>'],
    [
      "gives headings the ids of GitHub, each its own",
      "# `kesc doctor`: A & B_c\n\n# Now\n\n# Now",
      '<h1 id="kesc-doctor-a--b_c"><code>kesc doctor</code>: A &amp; B_c</h1>\n<h1 id="now">Now</h1>\n<h1 id="now-1">Now</h1>',
    ],
  ] as const) {
    it(what, () => {
      expect(html(text)).to.equal(expected);
    });
  }
});
