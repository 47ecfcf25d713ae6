import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect } from "chai";

import { htmlOfMarkdown } from "../../gateway/pages/markdown.js";

// The documents name files, and link to each other. Both must exist.

const ROOMS = [
  "runtime",
  "daraja",
  "src",
  "client",
  "gateway",
  "contract",
  "test",
  "bench",
  "proto",
  "docs",
  "examples",
];

const FILES = [".", ...ROOMS].flatMap((folder) =>
  readdirSync(folder, { recursive: folder !== ".", encoding: "utf8" }).map((file) => join(folder, file)),
);

/** Every document, with its text. */
const DOCUMENTS = FILES.filter((file) => /^(?!.*node_modules).*\.md$/.test(file)).map((file) => ({
  file,
  text: readFileSync(file, "utf8"),
}));

/**
 * The names in backticks. Leaves out those with a placeholder or a wildcard, which stand for many
 * files, and what a run writes.
 */
function namesIn(text: string): string[] {
  return [...text.matchAll(/`([^`\s]+)`/g)]
    .map(([, name]) => name ?? "")
    .filter((name) => !/[<*…]/.test(name) && !name.startsWith("bench/out/"));
}

/** The documents about the project as it is: the changelog names files of earlier builds. */
const OF_TODAY = DOCUMENTS.filter(({ file }) => file !== "CHANGELOG.md");

/** The packages that `make pack` writes, by deploy/packages.mjs and the names of `npm pack`. */
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
const PACKAGES = ["kesc", "kesc-client"].map((name) => `dist/packages/${name}-${version}.tgz`);

/** What stands in a document that does not exist, as "document: name". */
function missing(
  namesIn: (text: string) => string[],
  pathOf: (document: string, name: string) => string,
  documents = DOCUMENTS,
): string[] {
  return documents.flatMap(({ file, text }) =>
    namesIn(text)
      .filter((name) => !existsSync(pathOf(file, name)))
      .map((name) => `${file}: ${name}`),
  );
}

/** `make docs` writes these from their first heading of the second level on. */
const REFERENCES = new Set(["docs/commands.md", "docs/configuration.md"]);
const SHARED_WORDS = 8;
const SHOWN_WORDS = 12;

/** The words of each paragraph, item and row. No code, dates of records, or measurements. */
function paragraphsOf({ file, text }: (typeof DOCUMENTS)[number]): string[][] {
  const byHand = REFERENCES.has(file) ? text.replace(/^## [^]*/m, "") : text;
  return byHand
    .replaceAll(/^Accepted, \d.*$|^<!-- results[^]*?^<!-- end of results/gm, "")
    .replaceAll(/^ *```[^]*?^ *```$/gm, "")
    .replaceAll(/^\|.*$/gm, (row) => row.replaceAll(/`[^`]*`/g, "\n\n"))
    .replaceAll(/\]\([^)]*\)/g, "]")
    .split(/\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.))/)
    .map((paragraph) => paragraph.toLowerCase().match(/[a-z0-9]+/g) ?? []);
}

/** Each paragraph with eight words in a row that an earlier document has, too. */
function saidTwice(documents: typeof DOCUMENTS): string[] {
  const firstBy = new Map<string, string>();
  return documents.flatMap((document) =>
    paragraphsOf(document).flatMap((words) => {
      const runs = words.slice(SHARED_WORDS - 1).map((_, at) => words.slice(at, at + SHARED_WORDS).join(" "));
      for (const run of runs) if (!firstBy.has(run)) firstBy.set(run, document.file);
      const at = runs.findIndex((run) => firstBy.get(run) !== document.file);
      const shown = words.slice(at, at + SHOWN_WORDS).join(" ");
      return at === -1 ? [] : [`${firstBy.get(runs[at] ?? "") ?? ""} and ${document.file}: ${shown}`];
    }),
  );
}

describe("the documents", () => {
  it("are all looked at", () => {
    expect(DOCUMENTS.map(({ file }) => file)).to.include.members([
      "README.md",
      "CONTRIBUTING.md",
      "docs/architecture.md",
      "docs/adr/0001-natural-batching.md",
      "examples/mpesa/README.md",
    ]);
  });

  it("link to nothing that is missing", () => {
    const linksIn = (text: string): string[] =>
      [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link]) => link ?? "");
    expect(missing(linksIn, (document, link) => join(dirname(document), link))).to.deep.equal([]);
  });

  it("take the packages from where make pack puts them", () => {
    const named = OF_TODAY.flatMap(({ file, text }) =>
      [...text.matchAll(/[\w./-]+\.tgz/g)].map(([name]) => ({ file, name: name.replace(/^(\.|\.\.\/kesc)\//, "") })),
    );
    expect(named.map(({ name }) => name)).to.include.members(PACKAGES);
    expect(named.filter(({ name }) => !PACKAGES.includes(name))).to.deep.equal([]);
  });

  it("link to no heading that is missing", () => {
    const idsOf = new Map(
      DOCUMENTS.map(({ file, text }) => {
        const html = htmlOfMarkdown(text, () => undefined);
        return [file, new Set([...html.matchAll(/<h[1-6] id="([^"]*)"/g)].map(([, id]) => id))];
      }),
    );
    const wrong = DOCUMENTS.flatMap(({ file, text }) =>
      [...text.matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)]
        .filter(([, path = "", id]) => idsOf.get(path === "" ? file : join(dirname(file), path))?.has(id) !== true)
        .map(([link]) => `${file}: ${link}`),
    );
    expect(wrong).to.deep.equal([]);
    expect([...(idsOf.get("docs/api.md") ?? [])]).to.include("repeating-a-call");
  });

  it("in docs are all in its index", () => {
    const index = readFileSync("docs/README.md", "utf8");
    const files = DOCUMENTS.map(({ file }) => file).filter((file) => /^docs\/[a-z-]+\.md$/.test(file));
    const missing = files.filter((file) => !index.includes(`](${file.slice("docs/".length)}`));
    expect(missing).to.deep.equal([]);
  });

  it("say each sentence once", () => {
    const one = "It keeps nine words that stand in both of them. ";
    const other = { file: "b.md", text: `# B\n\n- ${one.toUpperCase()}Not this.\n` };
    const found = "a.md and b.md: it keeps nine words that stand in both of them not this";
    expect(saidTwice([{ file: "a.md", text: `${one}${one}` }, other])).to.deep.equal([found]);
    const code = `Accepted, 1 ${one}\n<!-- results: -->\n${one}\n<!-- end of results -->\n\`\`\`\n${one}\n\`\`\`\nIt keeps nine words that stand in none.`;
    expect(saidTwice([{ file: "a.md", text: code }, other])).to.deep.equal([]);

    const documents = DOCUMENTS.filter(({ file }) => file !== "CHANGELOG.md").toSorted((a, b) =>
      a.file < b.file ? -1 : 1,
    );
    // In the message, because mocha cuts a long difference.
    const twice = saidTwice(documents).toSorted();
    expect(twice.length, `\n${twice.join("\n")}\n`).to.equal(0);
  });

  it("name no file and no folder that is missing", () => {
    const ours = new RegExp(`^(${ROOMS.join("|")})/`);
    const pathsIn = (text: string): string[] => namesIn(text).filter((name) => ours.test(name));
    expect(missing(pathsIn, (_, path) => path, OF_TODAY)).to.deep.equal([]);
  });

  it("name no file that is missing by the end of its path", () => {
    const endsIn = (text: string): string[] => namesIn(text).filter((name) => name.endsWith(".ts"));
    const pathOf = (_: string, end: string): string => FILES.find((file) => `/${file}`.endsWith(`/${end}`)) ?? end;
    expect(missing(endsIn, pathOf, OF_TODAY)).to.deep.equal([]);
  });

  it("list each decision that the code or a document cites, and each record", () => {
    const list = readFileSync("docs/adr/README.md", "utf8");
    const listed = new Set([...list.matchAll(/^- \[?([0-9]+)/gm)].map(([, number]) => Number(number)));
    const code = globSync("{runtime,daraja,src,client,gateway,console,contract,test,bench,deploy}/**/*.{ts,tsx,mjs}");
    const cited = [
      ...code,
      ".dependency-cruiser.cjs",
      "eslint.config.js",
      ...DOCUMENTS.map(({ file }) => file),
    ].flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/\bADR ([0-9]+)|\badr\/0*([0-9]+)/g)].map(([, name, path]) => ({
        file,
        number: Number(name ?? path),
      })),
    );
    expect(cited.length).to.be.greaterThan(100);
    expect(cited.filter(({ number }) => !listed.has(number))).to.deep.equal([]);
    const records = readdirSync("docs/adr").filter((name) => name !== "README.md");
    expect(records.filter((name) => !list.includes(`](${name})`))).to.deep.equal([]);
  });

  it("quote the code of rails as it is", () => {
    const guide = readFileSync("docs/add-a-rail.md", "utf8");
    const quoted = [...guide.matchAll(/```ts\n([^]*?)\n```/g)].map(([, block = ""]) => block);
    const sources = FILES.filter((file) => /^src\/rails\/.*\.ts$/.test(file)).map((file) => readFileSync(file, "utf8"));
    expect(quoted).to.have.length(2);
    expect(quoted.filter((block) => !sources.some((source) => source.includes(block)))).to.deep.equal([]);
  });
});
