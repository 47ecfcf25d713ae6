import { expect } from "chai";

import type { Scope } from "../../../src/domain/api-key.js";
import type { UnixMillis } from "../../../src/domain/values/time.js";
import type { RestReply } from "../callers/rest-caller.js";
import { ENGINES } from "../databases.js";
import { TEST_ACTOR } from "../names.js";
import { type Service, sharedService } from "./service.js";
import { makeKey, withKeys } from "./tenants.js";

/** Declares a suite once for each engine, against the service that all such suites share. */
export function describeEachEngine(title: string, suite: (service: () => Service) => void): void {
  for (const engine of ENGINES) {
    describe(`${title} (${engine})`, () => {
      let service: Service | undefined;
      before(async () => {
        service = await sharedService(engine);
      });
      suite(() => {
        if (service === undefined) throw new Error("asked for the service before it was started");
        return service;
      });
    });
  }
}

let names = 0;

/** A name that no other test uses. */
export function fresh(what: string): string {
  names += 1;
  return `${what}-${String(names)}`;
}

/** Returns a receipt as M-Pesa writes it, another one for each call. */
export function freshReceipt(): string {
  return fresh("NLJ7RT61-").replaceAll("-", "");
}

/** Creates an account of organization A over REST; returns its id. */
export async function newAccount(service: Service, balance?: string): Promise<string> {
  const created = await service.rest("POST", "/accounts", {
    body: { user_id: fresh("user"), phone_number: "0712345678" },
  });
  if (created.status !== 201) throw new Error(created.text);
  const accountId = String(created.json["id"]);
  if (balance !== undefined) {
    const minted = await service.rest("POST", "/transactions/mint", {
      body: { account_id: accountId, amount: balance, reference: fresh("ref") },
    });
    if (minted.status !== 201) throw new Error(minted.text);
  }
  return accountId;
}

/** Makes another key of organization A. */
export function newKey(
  service: Service,
  limits: { scopes?: readonly Scope[]; expiresAt?: UnixMillis } = {},
): ReturnType<typeof makeKey> {
  return withKeys(service.databaseUrl, (keys) => makeKey(keys, service.a.organizationId, limits));
}

/** An account's available balance, as REST writes it. */
export async function availableOf(service: Service, accountId: string): Promise<string | undefined> {
  const { text } = await service.rest("GET", `/accounts/${accountId}`);
  return /"available_balance":([0-9.]+)/.exec(text)?.[1];
}

/** The status of a problem, its code, and the fields that it names. */
export function problemOf({ status, json }: RestReply): { status: number; code: unknown; fields: string[] } {
  const errors = (json["errors"] ?? []) as { field: string }[];
  return { status, code: json["code"], fields: errors.map(({ field }) => field) };
}

/**
 * Runs `kesc verify`, which must find nothing, but that TEST_ACTOR has no key in the book: some
 * tests write into the database of the service that all share.
 */
export async function expectBooksHold(service: Service): Promise<void> {
  const { stdout, stderr } = await service.kesc("verify", "--json");
  const { first_findings: findings } = JSON.parse(stdout) as { first_findings: readonly { found: string }[] };
  const others = findings.filter(({ found }) => found !== TEST_ACTOR);
  expect(others, stdout + stderr).to.deep.equal([]);
}
