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

const BODY = `<noscript><main><p>This page needs a script, which this gateway serves. Without it, read <a href="/openapi.json">/openapi.json</a>.</p></main></noscript>
<div id="docs"></div>`;

// The key that a person types is kept in the memory of the page only, and no validator is asked.
const startUnder = (basePath: string): string => `SwaggerUIBundle({
  url: "${basePath}/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

const STYLE = `:root {
  color-scheme: light;
  --paper: #fffefb;
  --ink: #1c1f1d;
  --accent: #116149;
}
body > header {
  max-width: 1460px;
  padding: 1.5rem 20px 0;
}
.swagger-ui, .swagger-ui .info .title, .swagger-ui .opblock-tag, .swagger-ui .info li, .swagger-ui .info p {
  color: var(--ink);
  font-family: system-ui, sans-serif;
}
.swagger-ui .info {
  margin: 1.5rem 0 0.5rem;
}
.swagger-ui .info a, .swagger-ui .opblock-tag a {
  color: var(--accent);
}
.swagger-ui .markdown code, .swagger-ui .renderedMarkdown code {
  background: #eef1ec;
  color: var(--ink);
  font-weight: 500;
}
.swagger-ui .info__license, .swagger-ui .info__contact, .swagger-ui .info .title small {
  display: none;
}
.swagger-ui .scheme-container {
  background: none;
  box-shadow: none;
  margin: 0;
  padding: 0;
}
.swagger-ui .btn.authorize {
  border-color: var(--accent);
  color: var(--accent);
}
.swagger-ui .btn.authorize svg {
  fill: var(--accent);
}
.swagger-ui .filter .operation-filter-input {
  margin: 1rem 0;
  border-width: 1px;
}
.swagger-ui .opblock-tag {
  border-color: #dfe3dd;
  font-size: 1.25rem;
}
.swagger-ui .opblock-tag small {
  color: #5d655f;
  padding: 0;
}
.swagger-ui .opblock-tag .nostyle span {
  display: inline-block;
  min-width: 8rem;
}
.swagger-ui .opblock {
  box-shadow: none;
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
