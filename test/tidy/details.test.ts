import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import { expectFieldMessage } from "../support/callers/style.js";

// Every message about a field is a literal in the code. So each can be looked at, also one that no
// test provokes.

const ROOMS = ["src/domain", "src/grpc", "gateway"];
const LITERAL = '("[^"]*"|`[^`]*`)';
const MESSAGES = [
  new RegExp(`\\bunparsed\\(\\s*${LITERAL}`, "g"),
  new RegExp(`\\bfieldProblem\\(\\s*"[^"]*",\\s*${LITERAL}`, "g"),
  new RegExp(`\\bmessage: ${LITERAL}`, "g"),
  new RegExp(`\\b(?:[A-Z_]*PROBLEM|TOO_SMALL) = ${LITERAL}`, "g"),
];

describe("the messages about fields", () => {
  const found = ROOMS.flatMap((room) =>
    readdirSync(room, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(room, name))
      .flatMap((file) => {
        const text = readFileSync(file, "utf8");
        return MESSAGES.flatMap((pattern) =>
          Array.from(text.matchAll(pattern), ([, literal = ""]) => literal.slice(1, -1)),
        );
      }),
  );

  it("are all looked at", () => {
    expect(found.length).to.be.greaterThan(40);
    expect(found).to.include.members(["is required", "must be more than zero", "must be an object"]);
  });

  it("continue a sentence that begins with the field's name", () => {
    for (const message of found) expectFieldMessage(message);
  });

  it("give examples and limits in the same words", () => {
    for (const message of found) expect(message, message).not.to.match(/e\.g\.|for example|can't|cannot|maximum/);
  });
});
