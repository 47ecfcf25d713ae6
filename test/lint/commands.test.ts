import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";
import type { Command } from "commander";

import { ACCOUNT, TRANSACTION } from "../../src/cli/call/resource.js";
import { examplesOf, pathOf } from "../../src/cli/examples.js";
import { readContract } from "../../src/grpc/messages/contract.js";
import { leavesOf, PROGRAM } from "../support/documents/reference.js";

// The documents show commands to paste. Each command and each of its options must exist, and each
// option that the command requires must be there.

const DOCUMENTS = ["README.md", "examples/mpesa/README.md", ...documentsIn("docs"), ...documentsIn("docs/adr")];

/** `kesc …` in a line to paste, also after `$ `, after NAME=value or after another command. */
const COMMAND = /(?:^\s*(?:\$ )?|&& |\| |\$\()(?:[A-Z_]+=\S* )*kesc ([^|;\n]*)/gm;

function documentsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
}

/** The commands in the fenced blocks of a text, each on one line and without its comment. */
function commandsIn(text: string): readonly string[] {
  const blocks = [...text.matchAll(/```[a-z]*\n([^]*?)```/g)].map(([, block = ""]) => block.replace(/\\\n\s*/g, ""));
  return blocks.flatMap((block) =>
    [...block.matchAll(COMMAND)].map(([, command = ""]) => command.replace(/ #.*$/, "").trim()),
  );
}

/** The words of a command. A quoted text is one word. */
function wordsOf(command: string): readonly string[] {
  return command.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
}

/** What is wrong with a command, as one sentence for each problem. */
function problemsOf(line: string): readonly string[] {
  let command = PROGRAM;
  const words = wordsOf(line);
  for (const word of words) {
    const next = command.commands.find((each) => [each.name(), ...each.aliases()].includes(word));
    if (next === undefined) break;
    command = next;
  }
  if (command.parent === null || command.commands.length > 0) return [`${line}: there is no such command`];
  const given = words.filter((word) => word.startsWith("--")).map((word) => word.replace(/=.*$/, ""));
  const known = new Set(command.options.map(({ long }) => long));
  const missing = command.options.filter(({ mandatory, long }) => mandatory && !given.includes(String(long)));
  return [
    ...unknownFilters(command, words).map((name) => `${line}: no filter ${name}`),
    ...given.filter((name) => name !== "--help" && !known.has(name)).map((name) => `${line}: no option ${name}`),
    ...(given.includes("--help") ? [] : missing.map(({ long }) => `${line}: ${String(long)} is required`)),
  ];
}

const CONTRACT = readContract().files;

/** The filters of a list, such as min_amount=1000, that its rpc does not have. */
function unknownFilters(command: Command, words: readonly string[]): readonly string[] {
  const resource = [ACCOUNT, TRANSACTION].find(({ name }) => pathOf(command) === `${name} list`);
  if (resource === undefined) return [];
  const [service = "", rpc] = resource.listMethod.split("/");
  const method = CONTRACT.getService(service)?.methods.find(({ name }) => name === rpc);
  const known = method?.input.fields.map(({ name }) => name) ?? [];
  return words
    .flatMap((word) => /^'?([a-z_]+)(?:\[.*\])?=/.exec(word)?.[1] ?? [])
    .filter((name) => !known.includes(name));
}

describe("the commands in the documents", () => {
  it("are found", () => {
    const all = DOCUMENTS.flatMap((document) => commandsIn(readFileSync(document, "utf8")));
    expect(all).to.include("rail status --org demo");
    expect(problemsOf("rail set mpesa --note x --orgs x")).to.have.length(2);
    expect(problemsOf("rails status")).to.deep.equal(["rails status: there is no such command"]);
  });

  for (const document of DOCUMENTS) {
    it(`exist, with their options: ${document}`, () => {
      expect(commandsIn(readFileSync(document, "utf8")).flatMap(problemsOf)).to.deep.equal([]);
    });
  }
});

describe("the examples of commands", () => {
  const leaves = leavesOf(PROGRAM);
  const names = leaves.map(pathOf);

  it("are there for each command", () => {
    expect(names).to.include.members(["serve", "rail set", "book adjust"]);
    expect(leaves.filter((command) => examplesOf(command).length === 0).map(pathOf)).to.deep.equal([]);
  });

  it("have values that the command takes", async () => {
    const run: string[] = [];
    for (const command of leaves) {
      command.action(() => {
        run.push(pathOf(command));
      });
      for (const example of examplesOf(command)) {
        const words = wordsOf(example).map((word) => word.replace(/^["']|["']$/g, ""));
        await PROGRAM.parseAsync(words, { from: "user" });
      }
    }
    expect([...new Set(run)]).to.deep.equal(names);
  });
});
