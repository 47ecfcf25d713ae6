/** A page for people, in the words that both of its forms show: HTML, and plain text. */
export interface Page {
  readonly title: string;
  readonly blocks: readonly Block[];
}

type Block =
  | { readonly kind: "paragraph"; readonly text: string }
  /** Pairs of a term and what there is to say about it. */
  | { readonly kind: "rows"; readonly rows: readonly Row[] };

interface Row {
  readonly term: string;
  readonly text: string;
  /** Where the term leads, in this gateway. */
  readonly href?: string;
}

/** The title of the page at /. All others have a link to it. */
export const HOME_TITLE = "KESC";
/** The path of the one stylesheet of all pages. */
export const STYLE_PATH = "/style.css";

export function textOf({ title, blocks }: Page): string {
  const parts = blocks.map((block) => {
    if (block.kind === "paragraph") return block.text;
    const width = Math.max(...block.rows.map(({ term }) => term.length)) + 2;
    return block.rows.map(({ term, text }) => (term.padEnd(width) + text).trimEnd()).join("\n");
  });
  return `${[title, ...parts].join("\n\n")}\n`;
}

export function htmlOf({ title, blocks }: Page): string {
  const parts = blocks.map((block) =>
    block.kind === "paragraph"
      ? `<p>${linked(block.text)}</p>`
      : `<dl>\n${block.rows.map((row) => `<div><dt>${termOf(row)}</dt><dd>${linked(row.text)}</dd></div>`).join("\n")}\n</dl>`,
  );
  return documentOf(title, `<main>\n<h1>${escaped(title)}</h1>\n${parts.join("\n")}\n</main>`);
}

interface DocumentParts {
  readonly head?: string;
  /** More links of the header, by their words. */
  readonly links?: Readonly<Record<string, string>>;
}

/** Makes a whole document with the head that all pages share. */
export function documentOf(title: string, body: string, { head = "", links = {} }: DocumentParts = {}): string {
  const name = title === HOME_TITLE ? title : `${title} · ${HOME_TITLE}`;
  const header = Object.entries({ [HOME_TITLE]: "/", ...links }).map(
    ([words, href]) => `<a href="${escaped(href)}">${escaped(words)}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(name)}</title>
<link rel="stylesheet" href="${STYLE_PATH}">
${head}</head>
<body>
${title === HOME_TITLE ? "" : `<header>${header.join(" ")}</header>\n`}${body}
</body>
</html>
`;
}

function termOf({ term, href }: Row): string {
  return href === undefined ? escaped(term) : `<a href="${escaped(href)}">${escaped(term)}</a>`;
}

// A path of this gateway in a text, such as "All errors: /errors".
const PATH = /(?<=^|\s)\/[a-z][a-z-]*(?=$|[\s.,;])/g;

/** Makes links of the pages that a text names. */
function linked(text: string): string {
  return escaped(text).replaceAll(PATH, (path) => `<a href="${path}">${path}</a>`);
}

/** Puts the path of the gateway's root before each link of a page that begins at the root. */
export function linksUnder(basePath: string, html: string): string {
  return basePath === "" ? html : html.replaceAll(/ (href|src)="\//g, ` $1="${basePath}/`);
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
