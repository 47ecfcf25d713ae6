import { Parser } from "saxen";

import { StatementError } from "../statement-error.js";

/** An element with what is in it. Elements and attributes of other namespaces are left out. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

interface XmlOptions {
  /** The namespaces whose elements are read. */
  readonly namespaces: readonly string[];
  /** Names from the root to the elements that are read one by one. */
  readonly path: readonly string[];
  /** Takes a child of such an element, when it ends. `parent` is the number of the element. */
  readonly onElement: (element: XmlElement, parent: number) => void;
}

const PREFIX = "ns:";
const DEPTH_MAX = 40;
/** The parser looks at each of a parent's for each of a child's. */
const NAMESPACES_MAX = 10_000;
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f]/;
const REFERENCE = /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)/;

/**
 * Reads XML, and keeps no more of it than one child at a time. Refuses a document type, so no
 * entity is declared, and nothing is expanded or fetched.
 *
 * Throws a StatementError that names the line.
 */
export function readXml(xml: string, { namespaces, path, onElement }: XmlOptions): void {
  if (declarationsIn(xml) > NAMESPACES_MAX) {
    throw new StatementError(`It declares more than ${String(NAMESPACES_MAX)} namespaces.`);
  }
  const bad = (problem: string, context: () => { readonly line: number }): StatementError =>
    new StatementError(`It is not valid XML: line ${String(context().line + 1)}: ${problem}.`);
  const open: XmlElement[] = [];
  let roots = 0;
  let parents = 0;
  // A message shows texts at a terminal.
  const withoutControls = (text: string, context: () => { readonly line: number }): string => {
    if (CONTROL.test(text)) throw bad("a character that XML does not have", context);
    return text;
  };
  const decoded = (
    text: string,
    decode: (text: string) => string,
    context: () => { readonly line: number },
  ): string => {
    if (REFERENCE.test(text)) throw bad("an entity that XML does not have", context);
    return withoutControls(decode(text), context);
  };
  new Parser()
    .ns(Object.fromEntries(namespaces.map((each) => [each, PREFIX.slice(0, -1)])))
    .on("openTag", (prefixed, attributesOf, _decode, _isEmpty, context) => {
      if (open.length === 0) roots += 1;
      if (roots > 1) throw bad("a second document", context);
      if (open.length === DEPTH_MAX) throw bad(`more than ${String(DEPTH_MAX)} elements in each other`, context);
      const name = prefixed.startsWith(PREFIX) ? prefixed.slice(PREFIX.length) : "";
      const element: XmlElement = { name, attributes: { ...attributesOf() }, children: [], text: "" };
      open.push(element);
      if (open.length === path.length && isAt(open, path)) parents += 1;
    })
    .on("text", (text, decode, context) => {
      const element = open.at(-1);
      if (element !== undefined) element.text += decoded(text, decode, context);
    })
    .on("cdata", (text, context) => {
      const element = open.at(-1);
      if (element !== undefined) element.text += withoutControls(text, context);
    })
    .on("closeTag", () => {
      const element = open.pop();
      if (element === undefined || element.name === "" || open.length < path.length || !isAt(open, path)) return;
      if (open.length === path.length) onElement(element, parents);
      else open.at(-1)?.children.push(element);
    })
    .on("attention", (_text, _decode, context) => {
      throw bad("a document type, which no statement needs", context);
    })
    .on("warn", ({ message }, context) => {
      throw bad(message, context);
    })
    .on("error", ({ message }, context) => {
      throw bad(message, context);
    })
    .parse(xml);
}

/** Returns the elements at the end of a path below the element. */
export function childrenAt(element: XmlElement, path: readonly string[]): readonly XmlElement[] {
  let found: readonly XmlElement[] = [element];
  for (const name of path) found = found.flatMap(({ children }) => children.filter((each) => each.name === name));
  return found;
}

/** Returns the text of the first of these. Undefined if there is none, or no text. */
export function valueAt(element: XmlElement, ...path: readonly string[]): string | undefined {
  return childrenAt(element, path)[0]?.text.trim() || undefined;
}

/** Counts the word wherever it stands. */
function declarationsIn(xml: string): number {
  let count = 0;
  for (let at = xml.indexOf("xmlns"); at >= 0; at = xml.indexOf("xmlns", at + 1)) count += 1;
  return count;
}

function isAt(open: readonly XmlElement[], path: readonly string[]): boolean {
  return path.every((name, index) => open[index]?.name === name);
}
