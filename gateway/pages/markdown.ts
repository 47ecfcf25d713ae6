import { Marked, type RendererObject } from "marked";

import { escaped } from "./page.js";

/**
 * Returns where a link of a document leads, for the page. Undefined: nowhere that the page may
 * name, and the words of the link stand alone.
 */
export type HrefOf = (href: string) => string | undefined;

/** Makes HTML of a document. Shows HTML in it as text, and leaves its pictures out. */
export function htmlOfMarkdown(text: string, hrefOf: HrefOf): string {
  return new Marked({ renderer: rendererOf(hrefOf) }).parse(text, { async: false });
}

function rendererOf(hrefOf: HrefOf): RendererObject {
  const ids = new Map<string, number>();
  return {
    html: ({ text }) => escaped(text),
    image: ({ text }) => escaped(text),
    link({ href, tokens }) {
      const words = this.parser.parseInline(tokens);
      const target = hrefOf(href);
      return target === undefined ? words : `<a href="${escaped(target)}">${words}</a>`;
    },
    heading({ tokens, depth }) {
      const id = headingId(this.parser.parseInline(tokens, this.parser.textRenderer), ids);
      return `<h${String(depth)} id="${escaped(id)}">${this.parser.parseInline(tokens)}</h${String(depth)}>\n`;
    },
  };
}

/**
 * Returns the id of a heading as GitHub makes it, so that the same link leads to it there and here.
 * `ids` counts those of the document so far.
 */
function headingId(words: string, ids: Map<string, number>): string {
  const id = words
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
  const count = ids.get(id) ?? 0;
  ids.set(id, count + 1);
  return count === 0 ? id : `${id}-${String(count)}`;
}
