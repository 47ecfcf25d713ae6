import { readFile } from "node:fs/promises";
import { posix } from "node:path";

import { packageFile } from "../../runtime/files/package-file.js";
import { type Guide, GUIDES, GUIDES_PATH } from "./guide-list.js";
import { type HrefOf, htmlOfMarkdown } from "./markdown.js";
import { documentOf, escaped, type Page } from "./page.js";

/** A page that is a document: its HTML for browsers, and its own text for all others. */
export interface GuidePage {
  readonly html: string;
  readonly text: string;
}

const DOCS_URL = packageFile("docs/");
const HEADER = { Guides: GUIDES_PATH, Calls: "/docs" };
const ALL = Object.values(GUIDES).flat();
/** Where a document is served, by its file. */
const PATHS: ReadonlyMap<string, string> = new Map([
  ...ALL.map((guide): [string, string] => [guide.file, pathOf(guide)]),
  ["../openapi.json", "/openapi.json"],
]);

/** The page that lists the guides. */
export const GUIDES_PAGE: Page = {
  title: "Guides",
  blocks: Object.values(GUIDES).map((guides) => ({
    kind: "rows",
    rows: guides.map((guide) => ({ term: guide.label, href: pathOf(guide), text: guide.about })),
  })),
};

/** Reads the documents and makes their pages, by path. Nothing is read later. */
export async function loadGuides(): Promise<ReadonlyMap<string, GuidePage>> {
  const pages = ALL.map(async (guide): Promise<[string, GuidePage]> => {
    const text = await readFile(new URL(guide.file, DOCS_URL), "utf8");
    return [pathOf(guide), { text, html: htmlOf(guide, text) }];
  });
  return new Map(await Promise.all(pages));
}

function htmlOf(guide: Guide, text: string): string {
  const main = `<main>\n${htmlOfMarkdown(text, hrefsIn(guide.file))}</main>`;
  return documentOf(guide.label, `<div class="guide">\n${navigation(guide)}\n${main}\n</div>`, { links: HEADER });
}

function navigation(here: Guide): string {
  const groups = Object.entries(GUIDES).map(([name, guides]) => {
    const items = guides.map((guide) => {
      const current = guide === here ? ' aria-current="page"' : "";
      return `<li><a href="${escaped(pathOf(guide))}"${current}>${escaped(guide.label)}</a></li>`;
    });
    return `<p>${escaped(name)}</p>\n<ul>\n${items.join("\n")}\n</ul>`;
  });
  return `<nav aria-label="Guides">\n${groups.join("\n")}\n</nav>`;
}

/** A link to a document that is not served, such as one for operators, is none in the page. */
function hrefsIn(file: string): HrefOf {
  return (href) => {
    if (href.startsWith("#") || href.startsWith("https://")) return href;
    const [path = "", anchor] = href.split("#");
    const served = PATHS.get(posix.join(posix.dirname(file), path));
    return served === undefined || anchor === undefined ? served : `${served}#${anchor}`;
  };
}

function pathOf({ name }: Guide): string {
  return `${GUIDES_PATH}/${name}`;
}
