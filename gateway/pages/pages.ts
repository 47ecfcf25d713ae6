import type { RequestHandler } from "express";

import type { HttpContract } from "../../contract/contract.js";
import { ICON } from "../../runtime/look.js";
import { sendFile, type StaticFile, staticFile } from "../http/static-file.js";
import { reasonsOf } from "../problems/reasons.js";
import { byAccept, byMethod, type Handler } from "../rest/path-handlers.js";
import { docsFiles } from "./docs.js";
import { errorPages } from "./errors.js";
import { GUIDES_PATH } from "./guide-list.js";
import { type GuidePage, GUIDES_PAGE, loadGuides } from "./guides.js";
import { homePage } from "./home.js";
import { openapiAt } from "./openapi.js";
import { htmlOf, linksUnder, STYLE_PATH, textOf } from "./page.js";
import { STYLE } from "./style.js";

/** What the gateway shows to people, by path. Nothing else of its files can be reached. */
export type Pages = ReadonlyMap<string, Handler>;

const PAGE_POLICY =
  "default-src 'none';style-src 'self';img-src 'self';base-uri 'none';form-action 'none';frame-ancestors 'none'";
const NOTHING = "default-src 'none'";

/** Makes all pages. They need no key, and nothing in them is a secret. */
export async function loadPages(
  contract: HttpContract,
  { hasDocs, publicUrl }: { readonly hasDocs: boolean; readonly publicUrl: string },
): Promise<Pages> {
  // Not the whole URL: a page that is read from another host finds its own style there.
  const basePath = publicUrl === "" ? "" : new URL(publicUrl).pathname.replace(/\/$/, "");
  const pages = new Map([
    ["/", homePage({ hasDocs })],
    ...(hasDocs ? [[GUIDES_PATH, GUIDES_PAGE] as const] : []),
    ...errorPages(reasonsOf(contract.registry)),
  ]);
  const guides = hasDocs ? await loadGuides() : new Map<string, GuidePage>();
  const files = new Map([
    [STYLE_PATH, staticFile("text/css; charset=utf-8", NOTHING, STYLE)],
    ["/favicon.ico", staticFile("image/svg+xml", NOTHING, ICON)],
    ["/openapi.json", openToAll(staticFile("application/json; charset=utf-8", NOTHING, await openapiAt(publicUrl)))],
    ...(hasDocs ? await docsFiles(basePath) : []),
  ]);
  return new Map(
    [
      ...Array.from(pages, ([path, page]): [string, Handler] => [
        path,
        formsHandler({ text: textOf(page), html: linksUnder(basePath, htmlOf(page)) }),
      ]),
      ...Array.from(guides, ([path, page]): [string, Handler] => [
        path,
        formsHandler({ ...page, html: linksUnder(basePath, page.html) }),
      ]),
      ...Array.from(files, ([path, file]): [string, Handler] => [path, fileHandler(file)]),
    ].map(([path, handler]) => [path, byMethod(path, new Map([["GET", handler]]))]),
  );
}

/** Serves the pages. A path without a page goes on to the next handler. */
export function servePages(pages: Pages): RequestHandler {
  return (req, res, next) => {
    const handler = pages.get(req.path);
    if (handler === undefined) next();
    else return handler(req, res);
  };
}

/** Lets the scripts of other sites read the file, such as an editor that loads the document. */
function openToAll(file: StaticFile): StaticFile {
  return { ...file, headers: { ...file.headers, "Access-Control-Allow-Origin": "*" } };
}

function fileHandler(file: StaticFile): Handler {
  return (req, res) => sendFile(file, [], req, res);
}

/** Browsers ask for HTML. All others, such as curl, get plain text. */
function formsHandler(forms: GuidePage): Handler {
  const text = staticFile("text/plain; charset=utf-8", NOTHING, forms.text);
  const html = staticFile("text/html; charset=utf-8", PAGE_POLICY, forms.html);
  return byAccept(
    new Map([
      ["text/plain", (req, res) => sendFile(text, ["Accept"], req, res)],
      ["text/html", (req, res) => sendFile(html, ["Accept"], req, res)],
    ]),
  );
}
