import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { expect } from "chai";
import fc from "fast-check";

import type { Account } from "../../../src/domain/account.js";
import type { Command } from "../../../src/domain/operations.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import { type Cents, formatCents } from "../../../src/domain/values/cents.js";
import type { EmailAddress } from "../../../src/domain/values/email-address.js";
import type { PhoneNumber } from "../../../src/domain/values/phone-number.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { plain } from "../../support/acted.js";
import { bytesOf, jsonMethod, restRequest, routeOf, textOf } from "../../support/callers/contract-requests.js";
import { ENGINES } from "../../support/databases.js";
import { NO_DEADLINE, SLOW_RAIL } from "../../support/names.js";
import { closeAccount, createAccount, eraseAccount, freezeAccount } from "../../support/operations/accounts.js";
import { cancel, mint, redeem } from "../../support/operations/transactions.js";
import { type InProcess, startInProcess } from "../../support/service/in-process.js";
import type { Tenant } from "../../support/service/tenants.js";
import { PROPERTY_MILLIS_MAX, runs } from "./runs.js";

const RUNS = 20;
const ACCOUNTS = 90;
const TRANSACTIONS = 240;
const FIRST_MILLIS = Date.UTC(2026, 0, 1);
const TOGETHER = 30;

const PHONES = ["+254712345678", "+254733000000", "+254700000001"] as PhoneNumber[];
const EMAILS = ["", "ann@example.com", "ben@example.com"] as EmailAddress[];
const STATUSES = { ACTIVE: 1, FROZEN: 2, CLOSED: 3 } as const;
const TYPES = { MINT: 1, REDEEM: 2 } as const;
const TRANSACTION_STATUSES = { PENDING: 1, PROCESSING: 2, COMPLETED: 3, FAILED: 4, CANCELED: 5 } as const;

const AMOUNTS = ["5.00", "5.01", "5.00", "12.50", "9999.99"];
/** Some keys and values look like parts of the JSON in which metadata is stored. */
const METADATA: readonly Readonly<Record<string, string>>[] = [
  {},
  { shop: "1" },
  { shop: "1", order: "17" },
  { order: "shop", '1"]': '["' },
  { "a[": ",", "]x": "y", "é😀": "\\" },
];
/** The pairs of METADATA, and pairs that none has. */
const PAIRS = [
  ...METADATA.flatMap((metadata) => Object.entries(metadata)),
  ["shop", ""],
  ["17", "order"],
  ["shop", "order"],
  [",", "],["],
] as [string, string][];

/** All accounts and transactions, in the order in which they were made. */
interface Made {
  readonly accounts: Map<string, Account>;
  readonly transactions: Map<string, Transaction>;
}

for (const engine of ENGINES) {
  describe(`fuzz: filters and pages (${engine})`, function () {
    this.timeout(PROPERTY_MILLIS_MAX);
    const clock = { now: FIRST_MILLIS };
    const made: Made = { accounts: new Map(), transactions: new Map() };
    let service: InProcess;

    before(async () => {
      service = await startInProcess(engine, () => toUnixMillis(clock.now));
      await makeAll();
    });
    after(() => service.dispose());

    /**
     * Waits for each group before it sends the next, so that the order is known and each group has
     * its own time.
     */
    async function submit(commands: readonly Command[]): Promise<void> {
      for (let first = 0; first < commands.length; first += TOGETHER) {
        clock.now += first % 7;
        const group = commands.slice(first, first + TOGETHER);
        for (const outcome of await Promise.all(group.map((each) => service.ledger.submit(each, NO_DEADLINE)))) {
          if (outcome.kind === "refused") throw new Error(outcome.refusal.reason);
          const resource = plain(outcome.resource);
          if ("sums" in resource || "secretSha256" in resource || "credits" in resource || "usableAt" in resource)
            continue;
          if ("person" in resource) made.accounts.set(resource.id, resource);
          else made.transactions.set(resource.id, resource);
        }
      }
    }

    async function makeAll(): Promise<void> {
      const tenants = [service.a, service.b].map(({ organizationId }) => organizationId);
      const pick = <Each>(all: readonly Each[], index: number): Each => all[index % all.length] as Each;
      const each = <Made>(count: number, make: (index: number) => Made): Made[] =>
        Array.from({ length: count }, (_, index) => make(index));

      await submit(
        each(ACCOUNTS, (index) =>
          createAccount(pick(tenants, index), `user-${String(index)}`, {
            phoneNumber: pick(PHONES, index * 7 + Math.floor(index / 4)),
            email: pick(EMAILS, Math.floor(index / 5)),
          }),
        ),
      );
      const accounts = [...made.accounts.values()];
      await submit(
        each(TRANSACTIONS, (index) => {
          const { organizationId, id: accountId } = pick(accounts, index);
          const slow = index >= ACCOUNTS && index % 3 === 1 ? { rail: SLOW_RAIL } : {};
          const amount = pick(AMOUNTS, index * 5 + Math.floor(index / 9));
          const metadata = pick(METADATA, index * 3 + Math.floor(index / 7));
          const movement = { organizationId, accountId, amount, reference: `r-${String(index)}`, metadata, ...slow };
          return index < 2 * ACCOUNTS || index % 2 === 0 ? mint(movement) : redeem({ ...movement, amount: "0.01" });
        }),
      );
      const pending = [...made.transactions.values()].filter(({ status }) => status === "PENDING");
      await submit(pending.filter((_, index) => index % 2 === 0).map((one) => cancel(one.organizationId, one.id)));
      const frozen = accounts.filter((_, index) => index % 5 === 0);
      await submit(frozen.map((one) => freezeAccount(one.organizationId, one.id)));
      const empty = each(6, (index) => createAccount(pick(tenants, index), `empty-${String(index)}`));
      await submit(empty);
      await submit(empty.map((one) => closeAccount(one.organizationId, one.newAccountId)));
      await submit(empty.slice(0, 3).map((one) => eraseAccount(one.organizationId, one.newAccountId)));
    }

    /** Reads all pages, every other one over REST; returns the ids. */
    async function walk(
      list: string,
      { key }: Tenant,
      filters: JsonObject,
      pageSize: number,
    ): Promise<string[] | string> {
      const route = routeOf(list);
      const ids: string[] = [];
      let token = "";
      for (let pages = 0; pages === 0 || token !== ""; pages += 1) {
        const request = { ...filters, page_size: pageSize, page_token: token };
        let answer: JsonObject;
        if (pages % 2 === 0) {
          const bytes = bytesOf(route.rpc.input, request);
          const { message, response } = await service.grpc.call(jsonMethod(route.rpc), bytes, { key });
          if (response === undefined) return message;
          answer = response;
        } else {
          const { method, path } = restRequest(route, request);
          const { status, text, json } = await service.rest.send(method, path, { key });
          expect(status, text).to.equal(200);
          answer = json as JsonObject;
        }
        const rows = Object.values(answer).find(Array.isArray) as { id: string }[];
        expect(rows.length).to.be.at.most(pageSize);
        ids.push(...rows.map(({ id }) => id));
        token = textOf(answer["next_page_token"]);
        if (token !== "") expect(rows).to.have.lengthOf(pageSize);
      }
      return ids;
    }

    function naive<Row extends Account | Transaction>(
      all: ReadonlyMap<string, Row>,
      { organizationId }: Tenant,
      matches: (row: Row) => boolean,
    ): string[] {
      const own = [...all.values()].filter((row) => row.organizationId === organizationId && matches(row));
      return own.map(({ id }) => id).reverse();
    }

    const pageSizes = fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 5, max: 60 }) },
      { weight: 1, arbitrary: fc.constantFrom(1, 2, 1_000) },
    );
    /** A filter that one in `others` + 1 requests has. */
    const rarely = <Value>(values: fc.Arbitrary<Value>, others: number): fc.Arbitrary<Value | undefined> =>
      fc.oneof({ weight: others, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: values });
    const maybe = <Value>(values: readonly Value[]): fc.Arbitrary<Value | undefined> =>
      rarely(fc.constantFrom(...values), 1);
    const isAny = <Value>(wanted: Value | undefined, found: Value): boolean => wanted === undefined || wanted === found;
    const oneOf = <Value>(wanted: readonly Value[], found: Value): boolean =>
      wanted.length === 0 || wanted.includes(found);
    /** Statuses in any order, some of them twice. */
    const some = <Value extends string>(numbers: Readonly<Record<Value, number>>): fc.Arbitrary<Value[]> =>
      fc.oneof(
        { weight: 1, arbitrary: fc.constant<Value[]>([]) },
        { weight: 2, arbitrary: fc.array(fc.constantFrom(...(Object.keys(numbers) as Value[])), { maxLength: 5 }) },
      );
    const set = (filters: Record<string, JsonValue | undefined>): JsonObject =>
      Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)) as JsonObject;

    type Moment = readonly [millis: number, finer: string];
    const moments = (millis: () => readonly number[]): fc.Arbitrary<Moment | undefined> =>
      rarely(
        fc.tuple(
          fc.integer({ min: -3, max: 3 }).chain((off) => fc.constantFrom(...millis()).map((at) => at + off)),
          fc.constantFrom("", "", "000001", "999999"),
        ),
        1,
      );
    const accountTimes = (): number[] => [...made.accounts.values()].map(({ createdAt }) => createdAt - FIRST_MILLIS);
    const transactionTimes = (): number[] =>
      [...made.transactions.values()].map(({ createdAt }) => createdAt - FIRST_MILLIS);
    const millisOf = ([millis, finer]: Moment): number => millis + Number(`0.${finer}`);
    const timeText = (at: Moment | undefined): string | undefined =>
      at && new Date(FIRST_MILLIS + at[0]).toISOString().replace("Z", `${at[1]}Z`);
    const isIn = (after: Moment | undefined, before: Moment | undefined, createdAt: number): boolean =>
      (after === undefined || createdAt - FIRST_MILLIS >= millisOf(after)) &&
      (before === undefined || createdAt - FIRST_MILLIS < millisOf(before));
    /** Rows have whole milliseconds, and so have the ends of a range: they are rounded up. */
    const isEmptyRange = (start: Moment | undefined, end: Moment | undefined): boolean =>
      start !== undefined && end !== undefined && Math.ceil(millisOf(start)) >= Math.ceil(millisOf(end));

    it("ListAccounts returns the rows that a scan of all accounts finds", async () => {
      const users = maybe(["user-0", "user-1", "user-88", "empty-2", "empty-3", "nobody"]);
      const filters = fc.record({
        user: fc.boolean().chain((named) => (named ? users : fc.constant(undefined))),
        phone: maybe(PHONES),
        email: maybe(EMAILS.slice(1)),
        status: some(STATUSES),
        after: moments(accountTimes),
        before: moments(accountTimes),
      });
      let found = 0;
      const check = async (
        given: typeof filters extends fc.Arbitrary<infer F> ? F : never,
        ofB: boolean,
        size: number,
      ) => {
        const { user, phone, email, status, after, before } = given;
        const tenant = ofB ? service.b : service.a;
        const expected = naive(
          made.accounts,
          tenant,
          (row) =>
            isAny<string | undefined>(user, row.person?.userId) &&
            isAny(phone, row.person?.phoneNumber) &&
            isAny(email, row.person?.email) &&
            oneOf(status, row.status) &&
            isIn(after, before, row.createdAt),
        );
        const request = set({
          user_id: user,
          phone_number: phone,
          email: email?.toUpperCase(),
          statuses: status.map((name) => STATUSES[name]),
          start: timeText(after),
          end: timeText(before),
        });
        const answer = await walk("ListAccounts", tenant, request, size);
        if (isEmptyRange(after, before)) {
          expect(answer).to.be.a("string").that.includes("end must be later than the start");
          return;
        }
        expect(answer).to.deep.equal(expected);
        found += expected.length;
      };
      await fc.assert(fc.asyncProperty(filters, fc.boolean(), pageSizes, check), runs(RUNS));
      expect(found).to.be.greaterThan(0);
    });

    it("ListTransactions returns the rows that a scan of all transactions finds", async () => {
      const ids = [...made.accounts.keys()];
      const amounts = fc.constantFrom(
        ...[1, 499, 500, 501, 502, 1_250, 999_999, 1_000_000].map((count) => count as Cents),
      );
      const pairs = fc
        .array(fc.constantFrom(...PAIRS), { minLength: 1, maxLength: 3 })
        .map((all) => Object.fromEntries(all));
      const filters = fc.record({
        account: rarely(fc.constantFrom(...ids.slice(0, 6), ...ids.slice(-2)), 4),
        type: maybe(Object.keys(TYPES) as (keyof typeof TYPES)[]),
        status: some(TRANSACTION_STATUSES),
        reference: rarely(fc.constantFrom("r-0", "r-7", "r-99", "r-none"), 9),
        after: moments(transactionTimes),
        before: moments(transactionTimes),
        min: rarely(amounts, 1),
        max: rarely(amounts, 1),
        metadata: rarely(pairs, 2),
      });
      let found = 0;
      const check = async (
        given: typeof filters extends fc.Arbitrary<infer F> ? F : never,
        ofB: boolean,
        size: number,
      ) => {
        const { account, type, status, reference, after, before, min, max, metadata } = given;
        const tenant = ofB ? service.b : service.a;
        const request = set({
          account_id: account,
          type: type && TYPES[type],
          statuses: status.map((name) => TRANSACTION_STATUSES[name]),
          reference,
          min_amount: min && formatCents(min),
          max_amount: max && formatCents(max),
          metadata,
          start: timeText(after),
          end: timeText(before),
        });
        const answer = await walk("ListTransactions", tenant, request, size);
        const isEmpty = {
          end: isEmptyRange(after, before),
          max_amount: min !== undefined && max !== undefined && max < min,
        };
        if (isEmpty.end || isEmpty.max_amount) {
          for (const [field, refused] of Object.entries(isEmpty))
            expect(String(answer).includes(`${field} must`), field).to.equal(refused);
          return;
        }
        const expected = naive(
          made.transactions,
          tenant,
          (row) =>
            isAny<string>(account, row.accountId) &&
            isAny(type, row.type) &&
            oneOf(status, row.status) &&
            isAny<string>(reference, row.reference) &&
            isIn(after, before, row.createdAt) &&
            row.amountCents >= (min ?? 0) &&
            row.amountCents <= (max ?? Infinity) &&
            Object.entries(metadata ?? {}).every(([key, value]) => row.metadata.get(key) === value),
        );
        expect(answer).to.deep.equal(expected);
        found += expected.length;
      };
      await fc.assert(fc.asyncProperty(filters, fc.boolean(), pageSizes, check), runs(RUNS));
      expect(found).to.be.greaterThan(0);
    });
  });
}
