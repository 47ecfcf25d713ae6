import { createHash } from "node:crypto";

import { payoutReference, type PayoutRow } from "../../../../src/domain/payout-file.js";
import { BANK_RAIL, type Rail } from "../../../../src/domain/transaction.js";
import { toCents } from "../../../../src/domain/values/cents.js";
import type { OrganizationId } from "../../../../src/domain/values/ids.js";
import type { Description } from "../../../../src/domain/values/text.js";
import type { PayoutItem } from "../../../../src/payouts/ports.js";
import { by, type CommandOf } from "../../../support/commands.js";
import { SLOW_RAIL } from "../../../support/names.js";
import { payFile, stopFile } from "../../../support/operations/payouts.js";
import { accountOf, FUNDS_CENTS, payeeOf, tillOf } from "./given-organization.js";
import type { Commit, May, RailWorld } from "./rail-world.js";

const STEPS_MAX = 12;
const ROWS_MAX = 5;
const PART_ROWS = 2;
const REST_MILLIS = [0, 0, 100, 1_000, 30_000];
const PERSONS = ["opr_a", "opr_b"] as const;

/** A file as the service has read it. The same file can be read again with other rows. */
export interface ReadFile {
  readonly sha256: string;
  readonly rowsSha256: string;
  readonly rail: Rail;
  readonly rows: readonly PayoutRow[];
  readonly leftOut: number;
  /** Who has proposed it first. */
  readonly proposer: string;
}

/**
 * The finance team of one organization. It proposes files of payouts, approves them, each person
 * also the own ones, proposes and approves them again, and stops some.
 */
export class PayoutTeam {
  readonly files: ReadFile[] = [];
  readonly #world: RailWorld;
  readonly #organizationId: OrganizationId;
  readonly #commit: Commit;
  readonly #rails: readonly Rail[];
  #stepsLeft: number;
  #nextAt = 0;

  constructor(
    world: RailWorld,
    given: { organizationId: OrganizationId; commit: Commit; paysBanks: boolean; isIdle: boolean },
  ) {
    this.#world = world;
    this.#organizationId = given.organizationId;
    this.#commit = given.commit;
    this.#rails = given.paysBanks ? [SLOW_RAIL, BANK_RAIL] : [SLOW_RAIL];
    this.#stepsLeft = given.isIdle ? 0 : 1 + world.random.below(STEPS_MAX);
  }

  /** When it acts next, since the run began. Undefined: never. */
  get nextAt(): number | undefined {
    return this.#stepsLeft > 0 ? this.#nextAt : undefined;
  }

  offer(may: May): void {
    if (this.#stepsLeft === 0 || this.#world.millis < this.#nextAt) return;
    const act = (weight: number, run: () => void): void => {
      may(weight, () => {
        this.#stepsLeft -= 1;
        this.#nextAt = this.#world.millis + this.#world.random.pick(REST_MILLIS);
        run();
      });
    };
    act(2, () => {
      this.#propose(this.#newFile());
    });
    const file = this.files.at(-1 - this.#world.random.below(2));
    if (file === undefined) return;
    act(3, () => {
      void this.#pay(file, this.#world.random.pick(PERSONS));
    });
    act(0.5, () => {
      this.#propose(this.#readAgain(file));
    });
    act(0.7, () => {
      const command = { ...stopFile(this.#organizationId, { sha256: file.sha256 }), ...by("opr_c") };
      void this.#commit(command).then((done) => {
        this.#world.tally.count("payouts", `stop: ${done}`);
      });
    });
  }

  #propose(file: ReadFile): void {
    this.files.push(file);
    const items: readonly PayoutItem[] = file.rows;
    const parts = Array.from({ length: Math.ceil(items.length / PART_ROWS) }, (_, index) =>
      items.slice(index * PART_ROWS, (index + 1) * PART_ROWS),
    );
    const [first = [], ...others] = parts;
    const leftOut = Array.from({ length: file.leftOut }, () => ({ line: 99, problem: "amount: is required" }));
    this.#world.payoutFiles.store(file.rowsSha256, [[...leftOut, ...first], ...others]);
    void this.#pay(file, file.proposer);
  }

  /** The same command of two persons lets the file be paid. */
  async #pay({ sha256, rowsSha256, rail, rows, leftOut }: ReadFile, person: string): Promise<void> {
    const amountCents = toCents(rows.reduce((sum, row) => sum + row.amountCents, 0));
    const given = { sha256, rowsSha256, rail, rows: rows.length, amountCents, leftOut };
    const command: CommandOf<"payFile"> = { ...payFile(this.#organizationId, given), ...by(person) };
    const done = await this.#commit(command);
    const isApproved = this.#world.disk.payoutFiles.some((file) => file.sha256 === sha256);
    this.#world.tally.count("payouts", `${isApproved ? "approved" : "proposed"}: ${done}`);
  }

  #newFile(): ReadFile {
    const { random } = this.#world;
    const sha256 = hashOf(this.#world.newId("file"));
    const rail = random.pick(this.#rails);
    const rows = Array.from({ length: 1 + random.below(ROWS_MAX) }, (_, index) => this.#row(sha256, rail, index + 2));
    const proposer = random.pick(PERSONS);
    return { sha256, rowsSha256: hashOf(`rows of ${sha256}`), rail, rows, leftOut: random.below(2), proposer };
  }

  #row(sha256: string, rail: Rail, line: number): PayoutRow {
    const { random } = this.#world;
    const organizationId = this.#organizationId;
    const toTill = random.chance(0.3) ? tillOf(organizationId) : undefined;
    const destinationId = rail === BANK_RAIL ? payeeOf(organizationId) : toTill;
    // Some rows the ledger refuses.
    const cents = random.chance(0.1) ? 2 * FUNDS_CENTS : 1 + random.below(50_000);
    return {
      line,
      accountId: accountOf(organizationId),
      amountCents: toCents(cents),
      reference: payoutReference(sha256, line),
      description: "" as Description,
      destinationId,
    };
  }

  /** The balances have changed since the file was read: fewer of its rows can be paid. */
  #readAgain(file: ReadFile): ReadFile {
    const rows = file.rows.slice(0, 1 + this.#world.random.below(file.rows.length));
    const rowsSha256 = hashOf(this.#world.newId("rows"));
    const proposer = this.#world.random.pick(PERSONS);
    return { ...file, rows, leftOut: file.leftOut + file.rows.length - rows.length, rowsSha256, proposer };
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
