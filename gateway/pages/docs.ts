import { readFile } from "node:fs/promises";

import { packageFile } from "../../runtime/files/package-file.js";
import { type StaticFile, staticFile } from "../http/static-file.js";
import { GUIDES_PATH } from "./guide-list.js";
import { documentOf, linksUnder } from "./page.js";

// The build copies the files of swagger-ui-dist there.
const SWAGGER_URL = packageFile("dist/swagger-ui/");

/** Only what this gateway serves, and no script or style in the page. Swagger's icons are data. */
const DOCS_POLICY =
  "default-src 'none';script-src 'self';style-src 'self';img-src 'self' data:;connect-src 'self';" +
  "base-uri 'none';form-action 'none';frame-ancestors 'none'";
const NOTHING = "default-src 'none'";

const HEAD = `<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/docs.css">
<script src="/docs/swagger-ui-bundle.js" defer></script>
<script src="/docs/start.js" defer></script>
`;

// Swagger makes a <main> of its own, and begins its headings with the third level.
const BODY = `<section aria-labelledby="title">
<h1 id="title">KESC API</h1>
<p>Six calls hold and move KESC. Each runs on this page once you have given it a key, with Authorize.</p>
<h2>A first request</h2>
<pre tabindex="0"><code id="request"></code></pre>
<p>The <a href="${GUIDES_PATH}">guides</a> say what holds for every call. All calls in one file: <a href="/openapi.json">/openapi.json</a>.</p>
<noscript><p>The list of the calls needs a script, which this gateway serves.</p></noscript>
</section>
<div id="docs"></div>`;

const FIRST_CALLS = "First calls";

/** The groups of the page: tags and operations. What is in none stays under its own tag. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  [FIRST_CALLS]: ["CreateAccount", "ListAccounts", "GetAccount", "Mint", "Redeem", "GetTransaction"],
  "Money and its payments": ["Transaction"],
  "Accounts and destinations": ["Account"],
  Deposits: ["Deposit"],
  "Events and webhooks": ["Event", "Webhook"],
  "Statements and proofs": ["Book"],
  "Your key and its limits": ["Organization"],
  "The sandbox": ["Sandbox"],
};

const requestUnder = (basePath: string): string => `export KESC_API_KEY=kesc_…

curl -sS ORIGIN${basePath}/accounts \\
  -H "X-API-Key: $KESC_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"user_id": "achieng", "phone_number": "0712345605"}'`;

// The key that a person types is kept in the memory of the page only, and no validator is asked.
const startUnder = (basePath: string): string => `const groups = ${JSON.stringify(GROUPS)};
const first = groups["${FIRST_CALLS}"];
const rankOf = (each) => first.indexOf(each.getIn(["operation", "operationId"])) + 1 || first.length + 1;
document.getElementById("request").textContent = ${JSON.stringify(requestUnder(basePath))}.replace("ORIGIN", location.origin);
fetch("${basePath}/openapi.json").then((response) => response.json()).then((spec) => {
  const names = Object.keys(groups);
  for (const operation of Object.values(spec.paths).flatMap(Object.values)) {
    const own = [operation.operationId, ...operation.tags];
    const among = names.filter((name) => own.some((each) => groups[name].includes(each)));
    if (among.length > 0) operation.tags = among;
  }
  spec.tags = names.map((name) => ({ name }));
  // What the service calls is in a guide, and here nobody could try it out.
  delete spec.webhooks;
  const ui = SwaggerUIBundle({
    spec,
    dom_id: "#docs",
    deepLinking: true,
    docExpansion: "none",
    operationsSorter: (one, other) => rankOf(one) - rankOf(other),
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    persistAuthorization: false,
    tryItOutEnabled: true,
    validatorUrl: null,
    onComplete: () => ui.layoutActions.show(["operations-tag", "${FIRST_CALLS}"], true),
  });
});
`;

const STYLE = `:root {
  color-scheme: light;
  --paper: #fffefb;
  --ink: #1c1f1d;
  --accent: #116149;
}
body > header, body > section {
  max-width: none;
  min-width: 0;
  margin: 0;
  padding: 1.5rem 20px 0;
}
h1 {
  margin: 0;
  line-height: 1.2;
}
section > pre {
  overflow-x: auto;
  padding: 0.9rem 1rem;
  background: #eef1ec;
  font-size: 0.8rem;
}
section > p > a {
  color: var(--accent);
}
@media (min-width: 75rem) {
  body {
    display: grid;
    grid-template-columns: minmax(0, 1fr) 34rem;
  }
  body > header {
    grid-column: 1 / -1;
  }
  body > section {
    grid-column: 2;
    position: sticky;
    top: 0;
    align-self: start;
  }
  #docs {
    grid-column: 1;
    grid-row: 2;
  }
}
.swagger-ui, .swagger-ui .opblock-tag {
  color: var(--ink);
  font-family: system-ui, sans-serif;
}
.swagger-ui .opblock-tag a {
  color: var(--accent);
}
.swagger-ui .markdown code, .swagger-ui .renderedMarkdown code {
  background: #eef1ec;
  color: var(--ink);
  font-weight: 500;
}
#docs .information-container, #docs .schemes-server-container {
  display: none;
}
.swagger-ui .scheme-container {
  background: none;
  box-shadow: none;
  margin: 1rem 0;
  padding: 0;
}
.swagger-ui .btn.authorize {
  border-color: var(--accent);
  color: var(--accent);
}
.swagger-ui .btn.authorize svg {
  fill: var(--accent);
}
.swagger-ui .opblock-tag {
  border-color: #dfe3dd;
  font-size: 1.25rem;
}
.swagger-ui .opblock {
  box-shadow: none;
}
.swagger-ui .opblock .opblock-summary .opblock-summary-method {
  background: var(--ink);
}
`;

/** Reads and makes the files of /docs, by path. Their links begin with `basePath`. */
export async function docsFiles(basePath: string): Promise<ReadonlyMap<string, StaticFile>> {
  const [bundle, css] = await Promise.all(
    ["swagger-ui-bundle.js", "swagger-ui.css"].map((name) => readFile(new URL(name, SWAGGER_URL))),
  );
  const js = "text/javascript; charset=utf-8";
  return new Map([
    [
      "/docs",
      staticFile(
        "text/html; charset=utf-8",
        DOCS_POLICY,
        linksUnder(basePath, documentOf("API", BODY, { head: HEAD, links: { Guides: GUIDES_PATH } })),
      ),
    ],
    ["/docs/swagger-ui-bundle.js", staticFile(js, NOTHING, bundle ?? "")],
    ["/docs/swagger-ui.css", staticFile("text/css; charset=utf-8", NOTHING, css ?? "")],
    ["/docs/docs.css", staticFile("text/css; charset=utf-8", NOTHING, STYLE)],
    ["/docs/start.js", staticFile(js, NOTHING, startUnder(basePath))],
  ]);
}
