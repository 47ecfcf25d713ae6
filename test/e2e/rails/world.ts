import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { pino } from "pino";

import type { HandPaymentEnd } from "../../../daraja/api/c2b.js";
import { SimulatorClock } from "../../../daraja/clock.js";
import type { Order, Receipt } from "../../../daraja/mpesa/order.js";
import { newOrganization, type Organization } from "../../../daraja/mpesa/organization.js";
import { type Daraja, type Deposit, startDaraja } from "../../../daraja/simulator.js";
import { readConfig as readGatewayConfig } from "../../../gateway/config.js";
import { startGateway } from "../../../gateway/server.js";
import { findOwner, type FoundOwner } from "../../../src/cli/organizations.js";
import type { BookSums } from "../../../src/domain/book.js";
import type { Command } from "../../../src/domain/operations.js";
import type { Rail } from "../../../src/domain/transaction.js";
import type { Cents } from "../../../src/domain/values/cents.js";
import type { PhoneNumber } from "../../../src/domain/values/phone-number.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import type { CredentialsTrial, DepositRegistration, ProbedProduct, RailProbes } from "../../../src/operators/rails.js";
import { credentialsTrial } from "../../../src/parts/credentials-trial.js";
import { depositRegistration } from "../../../src/parts/deposit-registration.js";
import { railProbes } from "../../../src/parts/rail-probes.js";
import type { PaymentRail } from "../../../src/rails/rail.js";
import { type RunningServer, startServer } from "../../../src/server.js";
import { callbackUrls, readCallbackSecrets } from "../../../src/startup/callbacks.js";
import { openRail } from "../../../src/startup/rails.js";
import { keys } from "../../../src/storage/keys.js";
import { noteQuestion } from "../../../src/storage/rails/balances.js";
import { type StoredRailAccount, storedRailAccounts } from "../../../src/storage/rails/rail-accounts.js";
import { MONDAY_MILLIS } from "../../daraja/given.js";
import { RestCaller } from "../../support/callers/rest-caller.js";
import { configOf } from "../../support/config.js";
import { type ENGINES, openTestDatabase, type TestDatabase } from "../../support/databases.js";
import { eventually } from "../../support/eventually.js";
import { findingsIn } from "../../support/findings.js";
import { makeTenant, type Tenant } from "../../support/service/tenants.js";
import { TcpForwarder } from "../../support/tcp-forwarder.js";
import { setMpesa } from "./mpesa-account.js";

type Engine = (typeof ENGINES)[number];

/** What the businesses of a world have that is not usual. */
interface Differing extends Partial<Organization> {
  readonly floatMinCents?: Cents | 0;
  readonly credentialsEndInDays?: number;
  /** The address of another M-Pesa, which the accounts of the businesses have. */
  readonly mpesaUrl?: string;
}

interface Mistakes {
  readonly baseUrl?: string;
  /** Behind the simulator's address. */
  readonly basePath?: string;
  readonly certificatePem?: string;
}

/** An organization with its own shortcode at the simulator, so that no other's money mixes in. */
export interface Business extends Tenant {
  readonly shortcode: string;
}

const SETTLED_MILLIS_MAX = 30_000;
const FIRST_SHORTCODE = 600_000;

/** The service and the simulator of M-Pesa, with one clock that moves only when a test moves it. */
export class RailWorld {
  readonly rest: RestCaller;
  readonly #daraja: Daraja;
  readonly #businesses: readonly Business[];
  readonly #clock: SimulatorClock;
  readonly #opened: TestDatabase;
  readonly #server: RunningServer;
  readonly #registration: DepositRegistration;
  readonly #openRail: (account: StoredRailAccount) => Promise<PaymentRail>;
  readonly #tryCredentials: ReturnType<typeof credentialsTrial>;
  readonly #probes: (aheadMillis: number) => RailProbes;
  readonly #dispose: () => Promise<void>;

  private constructor(parts: {
    rest: RestCaller;
    daraja: Daraja;
    businesses: readonly Business[];
    clock: SimulatorClock;
    opened: TestDatabase;
    server: RunningServer;
    registration: DepositRegistration;
    openRail: (account: StoredRailAccount) => Promise<PaymentRail>;
    tryCredentials: ReturnType<typeof credentialsTrial>;
    probes: (aheadMillis: number) => RailProbes;
    dispose: () => Promise<void>;
  }) {
    this.rest = parts.rest;
    this.#daraja = parts.daraja;
    this.#businesses = parts.businesses;
    this.#clock = parts.clock;
    this.#opened = parts.opened;
    this.#server = parts.server;
    this.#registration = parts.registration;
    this.#openRail = parts.openRail;
    this.#tryCredentials = parts.tryCredentials;
    this.#probes = parts.probes;
    this.#dispose = parts.dispose;
  }

  static async start(
    engine: Engine,
    businessCount: number,
    { floatMinCents = 0, credentialsEndInDays, mpesaUrl, ...differing }: Differing = {},
  ): Promise<RailWorld> {
    const clock = new SimulatorClock({ standsAtMillis: MONDAY_MILLIS });
    const now = (): UnixMillis => toUnixMillis(clock.nowMillis());
    const organizations = Array.from({ length: businessCount }, (_, index) => {
      const shortcode = String(FIRST_SHORTCODE + index);
      const secrets = { consumerKey: `key-${shortcode}`, consumerSecret: `secret-${shortcode}` };
      // Each suite meets both: SQLite and PostgreSQL read the same messages.
      const messageForms = engine === "postgres" ? "alternating" : "one";
      return newOrganization({ shortcode, messageForms, ...secrets, ...differing });
    });
    const daraja = await startDaraja({ clock, organizations, seed: "scenarios" });
    const opened = await openTestDatabase(engine);
    const { database } = opened;
    const businesses: Business[] = [];
    for (const organization of organizations) {
      const tenant = await makeTenant(keys(database, now), `Duka ${organization.shortcode}`);
      const ends =
        credentialsEndInDays === undefined ? {} : { credentialsExpireAt: inDays(now(), credentialsEndInDays) };
      const baseUrl = mpesaUrl ?? daraja.url;
      await setMpesa(database, { ...tenant, baseUrl, organization, now: now(), floatMinCents, ...ends });
      businesses.push({ ...tenant, shortcode: organization.shortcode });
    }
    // The server must know the address of the gateway, which starts later.
    const callbacks = await TcpForwarder.start(0);
    const folder = mkdtempSync(join(tmpdir(), "kesc-rails-"));
    const secretFile = join(folder, "callback.secret");
    writeFileSync(secretFile, "5".repeat(64));
    const config = configOf({
      KESC_GRPC_ADDRESS: "127.0.0.1:0",
      KESC_CALLBACK_BASE_URL: `http://127.0.0.1:${String(callbacks.port)}`,
      KESC_CALLBACK_SECRET_FILE: secretFile,
      KESC_RAIL_HOSTS: "127.0.0.1",
      KESC_ADMIN_ADDRESS: "127.0.0.1:0",
      KESC_WEBHOOKS_ALLOW: "127.0.0.1",
    });
    const logger = pino({}, { write: () => undefined });
    const server = await startServer(config, { database, logger, now });
    const read = readGatewayConfig({ KESC_HTTP_ADDRESS: "127.0.0.1:0", KESC_GATEWAY_TARGET: server.address });
    if (!read.ok) throw new Error(read.problems.join("\n"));
    const gateway = await startGateway(read.config, logger);
    callbacks.target = Number(new URL(`http://${gateway.address}`).port);
    const rest = new RestCaller(gateway.address);
    const dispose = async (): Promise<void> => {
      rest.close();
      await daraja.close();
      await callbacks.stop();
      await gateway.stop();
      await server.stop();
      await opened.dispose();
      rmSync(folder, { recursive: true });
    };
    const { callbacks: settings, railHosts: hosts } = config;
    if (settings === undefined) throw new Error("the server has no callbacks");
    const callbackSettings = { settings, secrets: readCallbackSecrets(settings) };
    const registration = depositRegistration(database, { callbacks: () => callbackSettings, hosts, now });
    const callbackUrl = callbackUrls(settings, callbackSettings.secrets, 0);
    const openAccount = (account: StoredRailAccount): Promise<PaymentRail> =>
      openRail(opened.cell, account, { callbackUrl, hosts, now });
    return new RailWorld({
      rest,
      daraja,
      businesses,
      clock,
      opened,
      server,
      registration,
      openRail: openAccount,
      probes: (aheadMillis) =>
        railProbes(database, {
          callbacks: () => callbackSettings,
          hosts,
          now: () => toUnixMillis(now() + aheadMillis),
        }),
      tryCredentials: credentialsTrial(database, { callbacks: () => callbackSettings, isServer: true, hosts, now }),
      dispose,
    });
  }

  dispose(): Promise<void> {
    return this.#dispose();
  }

  /**
   * Lets so much time pass. It jumps from one moment at which something is due to the next, and the
   * service does all its work of a moment before the clock goes on.
   */
  async pass(millis: number): Promise<void> {
    const untilMillis = this.#clock.nowMillis() + millis;
    await this.#settled();
    while (this.#clock.nowMillis() < untilMillis) {
      const nextMillis = Math.min(untilMillis, this.#clock.nextMillis ?? Infinity, await this.#nextDueMillis());
      await this.#clock.advance(nextMillis - this.#clock.nowMillis());
      await this.#settled();
    }
  }

  business(index: number): Business {
    const business = this.#businesses[index];
    if (business === undefined) throw new Error(`there is no business ${String(index)}`);
    return business;
  }

  async book({ organizationId }: Business): Promise<BookSums> {
    const [accounts] = await this.#opened.cell.reader.rows<BookSums>(BOOK, [organizationId]);
    if (accounts === undefined) throw new Error(`there is no book of ${organizationId}`);
    return accounts;
  }

  /** Registers the business at M-Pesa, so that it takes deposits. */
  async takeDeposits({ organizationId: id }: Business): Promise<void> {
    const mayBegin = () => Promise.resolve(true);
    const asked = { rail: "mpesa" as Rail, contact: "+254700000001" as PhoneNumber, mayBegin };
    const { kind } = await this.#registration.register({ id, cell: 0, isSandbox: false }, asked);
    if (kind !== "registered") throw new Error(`not registered: ${kind}`);
  }

  /** Where the server has its metrics. */
  get adminAddress(): string {
    return this.#server.adminAddress ?? "";
  }

  /**
   * Asks M-Pesa for the balance of the business, as a server does once an hour. The answer comes
   * within 10 seconds.
   */
  async askBalance({ organizationId }: Business, question: string): Promise<void> {
    const accounts = await storedRailAccounts(this.#opened.cell);
    const account = accounts.find((each) => each.organizationId === organizationId);
    if (account === undefined) throw new Error(`${organizationId} has no account at a rail`);
    await noteQuestion(this.#opened.cell, { id: account.id, question, at: toUnixMillis(this.#clock.nowMillis()) });
    await (await this.#openRail(account)).askBalance(question, new AbortController().signal);
  }

  /** Sets the account of the business with this password of the initiator, and tries it. */
  async setPassword(business: Business, initiatorPassword: string): Promise<CredentialsTrial | undefined> {
    await this.setAccount(business, { initiatorPassword });
    const owner = { id: business.organizationId, cell: 0, isSandbox: false };
    return this.#whileItAnswers(this.#tryCredentials(owner, "mpesa" as Rail));
  }

  /** Sets the account of the business as somebody does who has made these mistakes. */
  async setAccount(
    business: Business,
    {
      basePath = "",
      baseUrl = this.#daraja.url + basePath,
      certificatePem,
      ...mistakes
    }: Partial<Organization> & Mistakes = {},
  ): Promise<void> {
    const organization = { ...this.organizationOf(business), ...mistakes };
    const now = toUnixMillis(this.#clock.nowMillis());
    await setMpesa(this.#opened.database, { ...business, baseUrl, certificatePem, organization, now });
  }

  /** Asks about each product of the account, by a clock that is ahead. */
  async probe({ organizationId: id }: Business, aheadMillis = 0): Promise<readonly ProbedProduct[]> {
    const probes = this.#probes(aheadMillis);
    const probed = await this.#whileItAnswers(probes.probe({ id, cell: 0, isSandbox: false }, "mpesa" as Rail));
    if (probed === undefined) throw new Error("there is no account");
    return probed;
  }

  async #whileItAnswers<Result>(trial: Promise<Result>): Promise<Result> {
    const answered = new AbortController();
    // The simulator's answer comes after two seconds of its clock.
    const passing = (async () => {
      while (!answered.signal.aborted) {
        await this.#clock.advance(500);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    const result = await trial;
    answered.abort();
    await passing;
    return result;
  }

  /** A customer pays without a prompt. Resolves after the confirmation. */
  payByHand(payment: Deposit): Promise<HandPaymentEnd> {
    return this.#daraja.payByHand(payment);
  }

  /** How M-Pesa treats the business from now on. */
  setMpesa(
    { shortcode }: Business,
    changes: Partial<Pick<Organization, "pullLagMillis" | "isPullProvisioned" | "utilityCents" | "lacksProduct">>,
  ): void {
    Object.assign(this.#daraja.organizations.find((each) => each.shortcode === shortcode) ?? {}, changes);
  }

  /** Money of the business moves between its bank and M-Pesa. Returns the receipt. */
  settle(business: Business, direction: Receipt["direction"], amountCents: number): string {
    return numberOf(this.#daraja.mpesa.settle(this.organizationOf(business), direction, amountCents));
  }

  /** A payer gets the money of a payment back. Returns the receipt of that. */
  reverse(receipt: string): string {
    return numberOf(this.#daraja.mpesa.reverse(receipt));
  }

  organizationOf({ shortcode }: Business): Organization {
    const organization = this.#daraja.organizations.find((each) => each.shortcode === shortcode);
    if (organization === undefined) throw new Error(`M-Pesa does not know ${shortcode}`);
    return organization;
  }

  /** How many names M-Pesa was asked for, also by an app that lacks the product. */
  get namesAsked(): number {
    const lacked = this.#daraja.refusedRequests.filter(({ errorCode }) => errorCode === "401.003.01");
    return this.#daraja.mpesa.named.length + lacked.length;
  }

  owner({ organizationId }: Business): Promise<FoundOwner> {
    return findOwner(this.#opened.database, organizationId);
  }

  /** Does what an operator in the database does. */
  async commit(command: Command): Promise<void> {
    const at = toUnixMillis(this.#clock.nowMillis());
    const [result] = await this.#opened.cell.committer.commit([command], at);
    if (result?.kind !== "done") throw new Error(`${command.name}: ${JSON.stringify(result)}`);
  }

  /** Reads the database of the service. */
  rows<Row>(sql: string, bindings: readonly string[] = []): Promise<readonly Row[]> {
    return this.#opened.cell.reader.rows<Row>(sql, bindings);
  }

  /** What M-Pesa moved for the business, by its own account. */
  movedFor({ shortcode }: Business): readonly Receipt[] {
    return this.#daraja.receipts.filter((receipt) => receipt.shortcode === shortcode);
  }

  /** The orders of the business that M-Pesa accepted. */
  ordersOf({ shortcode }: Business): readonly Order[] {
    return this.#daraja.orders.filter(({ organization }) => organization.shortcode === shortcode);
  }

  async findings(): Promise<readonly unknown[]> {
    const firstFindings = await findingsIn(this.#opened.database);
    return firstFindings;
  }

  /** Resolves once the service has nothing to do at this moment. */
  async #settled(): Promise<void> {
    let work: object | undefined;
    await eventually(
      async () => {
        for (const cell of this.#server.cells) cell.wake();
        const rows = await this.#opened.cell.reader.rows<{ count: number }>(WORK, [
          this.#clock.nowMillis(),
          this.#clock.nowMillis(),
          this.#clock.nowMillis(),
        ]);
        work = rows[0];
        return rows[0]?.count === 0;
      },
      { millisMax: SETTLED_MILLIS_MAX, what: () => `the service did not settle: ${JSON.stringify(work)}` },
    );
  }

  async #nextDueMillis(): Promise<number> {
    const [row] = await this.#opened.cell.reader.rows<{ due: number | null }>(NEXT_DUE);
    return row?.due ?? Infinity;
  }
}

function numberOf(receipt: Receipt | string): string {
  if (typeof receipt === "string") throw new Error(`M-Pesa refuses: ${receipt}`);
  return receipt.number;
}

const BOOK = `
  SELECT reserve_cents AS reserve, available_cents AS available, held_cents AS held,
         unallocated_cents AS unallocated, shortfall_cents AS shortfall, charges_cents AS charges
  FROM books WHERE organization_id = ?`;

// A payment that was begun, and whose answer is not stored yet, has no code and is due later.
const WORK = `
  SELECT (SELECT count(*) FROM payments
          WHERE state <> 'ENDED' AND (due_at <= ? OR (state = 'SENDING' AND last_code IS NULL))) +
         (SELECT count(*) FROM rail_messages WHERE due_at <= ?) +
         (SELECT count(*) FROM deposits WHERE return_due_at <= ? OR return_requests LIKE '%sending%') AS count`;

const NEXT_DUE = `
  SELECT min(due) AS due FROM (
    SELECT min(due_at) AS due FROM payments WHERE state <> 'ENDED'
    UNION ALL SELECT min(due_at) AS due FROM rail_messages
    UNION ALL SELECT min(return_due_at) AS due FROM deposits) AS all_due`;

function inDays(now: UnixMillis, days: number): UnixMillis {
  return toUnixMillis(now + days * 86_400_000);
}
