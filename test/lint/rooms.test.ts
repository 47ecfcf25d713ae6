import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect } from "chai";
import ts from "typescript";

// What dependency-cruiser cannot see: circles among folders.

const ROOMS = ["runtime", "daraja", "src", "client", "gateway", "contract", "test", "bench"];

/** The files of the rooms, each with the files of ours that it imports, types included. */
const IMPORTS: ReadonlyMap<string, readonly string[]> = new Map(
  ROOMS.flatMap(sourceFilesBelow).map((file) => [
    file,
    ts
      .preProcessFile(readFileSync(file, "utf8"))
      .importedFiles.filter(({ fileName }) => fileName.startsWith("."))
      .map(({ fileName }) => join(dirname(file), fileName).replace(/\.js$/, ".ts")),
  ]),
);
const FOLDERS = [...new Set([...IMPORTS.keys()].flatMap(foldersAbove))];

function sourceFilesBelow(room: string): string[] {
  return readdirSync(room, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.startsWith("gen/"))
    .map((file) => join(room, file));
}

/** "a/b/c.ts" lies in "a/b", "a" and ".". */
function foldersAbove(file: string): string[] {
  const folder = dirname(file);
  return folder === "." ? ["."] : [folder, ...foldersAbove(folder)];
}

/** The file or folder directly in `folder` that `file` is or lies in; undefined outside of it. */
function childOf(folder: string, file: string): string | undefined {
  if (folder === ".") return file.split("/")[0];
  return file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split("/")[0] : undefined;
}

/** The imports among the children of a folder that lie on a circle, as "a → b" with an example. */
function circleIn(folder: string): string[] {
  const edges = new Map<string, { from: string; to: string; example: string }>();
  for (const [file, imported] of IMPORTS) {
    const from = childOf(folder, file);
    for (const target of imported) {
      const to = childOf(folder, target);
      if (from === undefined || to === undefined || from === to) continue;
      edges.set(`${from} → ${to}`, { from, to, example: `${file} imports ${target}` });
    }
  }
  // An edge into a child without edges of its own, or from a child that nothing imports, is on no
  // circle. Without those edges, others lose their company, until only circles are left.
  for (let before = -1; before !== edges.size;) {
    before = edges.size;
    const sources = new Set([...edges.values()].map(({ from }) => from));
    const targets = new Set([...edges.values()].map(({ to }) => to));
    for (const [name, { from, to }] of edges) if (!sources.has(to) || !targets.has(from)) edges.delete(name);
  }
  return [...edges].map(([name, { example }]) => `${folder}: ${name} (${example})`);
}

describe("the rooms", () => {
  it("have files that import each other, all of which were found", () => {
    expect(IMPORTS.get("runtime/fair-queue.ts")).to.deep.equal(["runtime/queue.ts"]);
    expect(IMPORTS.get("src/cli/commands/server.ts")).to.include("src/cli/run-server.ts");
    expect(FOLDERS).to.include.members([".", "src", "src/ledger/ports"]);
  });

  it("form no circle, and neither do the files and folders inside any of their folders", () => {
    expect(FOLDERS.flatMap(circleIn)).to.deep.equal([]);
  });
});
