import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { expect } from "chai";

import { textOf } from "../../../support/callers/contract-requests.js";
import type { Books } from "../../../support/service/in-process.js";

/** The outcome of a call, over either protocol. */
export interface Came {
  readonly accepted: boolean;
  readonly replayed: boolean;
  /** The resource in the response, if it is one, with enum values in any spelling. */
  readonly resource: JsonObject | undefined;
  /** The outcome of each part of a call that does many things. */
  readonly results?: readonly JsonObject[] | undefined;
}

const E164 = /^\+[1-9][0-9]{6,14}$/;

/** Expects the resource to have what was sent in each field that both have. */
export function expectSaid(sent: JsonObject, resource: JsonObject): void {
  for (const [name, value] of Object.entries(sent)) {
    const answered = Object.hasOwn(resource, name) ? resource[name] : undefined;
    if (answered === undefined || value === null) continue;
    // A change that was made already is a replay, whatever version the caller had read.
    if (name === "etag") continue;
    if (name === "amount") expect(Number(answered), name).to.equal(Number(value));
    else if (name === "phone_number") expectSamePhone(textOf(value), textOf(answered));
    else if (name === "email") expect(answered, name).to.equal(storedEmail(textOf(value)));
    else if (name === "rail") expect(answered, name).to.equal(value === "" ? "direct" : value);
    else expect(answered, name).to.deep.equal(value);
  }
}

/**
 * Expects no change after a refusal, a replay or a read, and after anything else just the change
 * that the response shows.
 */
export function expectBooks(
  before: Books,
  after: Books,
  { accepted, replayed, resource, results }: Came,
  writes: boolean,
): void {
  if (!accepted || replayed || !writes) {
    expect(after).to.deep.equal(before);
    return;
  }
  const done = results === undefined ? [resource] : results.filter(isNew).map(({ transaction }) => transaction);
  const moves = done.map((each) => movedCents(each as JsonObject | undefined)).filter((cents) => cents !== 0);
  const moved = moves.reduce((sum, cents) => sum + cents, 0);
  const made = { transactions: moves.length, accounts: Number(after["accounts"]) - Number(before["accounts"]) };
  expect(made.accounts).to.be.within(0, results === undefined ? 1 : 0);
  const grown = { seq: done.length, reserve: moved, owed: moved, available: moved, held: 0, ...made };
  const expected = Object.fromEntries(
    Object.entries(grown).map(([name, change]) => [name, Number(before[name] ?? 0) + change]),
  );
  expect(after).to.deep.equal(expected);
}

/** Whether this result of a batch had an effect. */
function isNew({ transaction, replayed }: JsonObject): boolean {
  return typeof transaction === "object" && transaction !== null && replayed !== true;
}

/** The change of the reserve. */
function movedCents(resource: JsonObject | undefined): number {
  if (!/completed$/i.test(textOf(resource?.["status"]))) return 0;
  const cents = Number(Number(resource?.["amount"]).toFixed(2).replace(".", ""));
  return /mint$/i.test(textOf(resource?.["type"])) ? cents : -cents;
}

function expectSamePhone(sent: string, answered: string): void {
  expect(answered).to.match(E164);
  const digits = sent.replace(/[^0-9]/g, "");
  expect(answered.slice(-7)).to.equal(digits.slice(-7));
}

/** The empty text means none. */
function storedEmail(email: string): string | null {
  if (email === "") return null;
  const at = email.lastIndexOf("@");
  return email.slice(0, at) + email.slice(at).toLowerCase();
}

/** Expects that no input has added a property to every object. */
export function expectNoPollution(): void {
  const inherited: JsonValue[] = [];
  for (const name in {}) inherited.push(name);
  expect(inherited).to.deep.equal([]);
}
