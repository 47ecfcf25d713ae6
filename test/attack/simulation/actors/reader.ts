import type { JournalEntry } from "../../../../src/domain/journal.js";
import type { OrganizationId } from "../../../../src/domain/values/ids.js";
import type { Disk, Stored } from "../disks/disk.js";
import { mustBe, mustHold } from "../report/violation.js";
import { type Actor, type May, type World } from "./world.js";

const LOOK_WEIGHT = 0.5;

/**
 * Reads one book while servers write to it, as a reader of events does: each time the rows after
 * the last one that it knows. It must never miss a row, and no row that it knows may change.
 */
export class Reader implements Actor {
  readonly #world: World;
  readonly #disk: Disk;
  readonly #organizationId: OrganizationId;
  readonly #known: Stored<JournalEntry>[] = [];

  constructor(world: World, { disk, organizationId }: { disk: Disk; organizationId: OrganizationId }) {
    this.#world = world;
    this.#disk = disk;
    this.#organizationId = organizationId;
  }

  offer(may: May): void {
    may(LOOK_WEIGHT, () => {
      this.look();
    });
  }

  /** Throws a Violation unless the new rows follow the known ones without a gap. */
  look(): void {
    this.#world.tally.count("checked", "looks at a book");
    for (const row of this.#disk.journalAfter(this.#organizationId, this.#known.length)) {
      const last = this.#known.at(-1);
      mustBe(`the next row of ${this.#organizationId}, as a reader finds it`, this.#known.length + 1, row.seq);
      mustHold(last === undefined || last.recordedAt <= row.recordedAt, () => ({
        what: `the time of row ${String(row.seq)} of ${this.#organizationId}, as a reader finds it`,
        expected: `${String(last?.recordedAt)} or later`,
        found: row.recordedAt,
      }));
      this.#known.push(row);
    }
  }

  /** Looks for the last time, and compares all rows with those that it knows. */
  finish(): void {
    this.look();
    const rows = this.#disk.journalAfter(this.#organizationId, 0);
    mustBe(`the rows of ${this.#organizationId}, as a reader knows them`, this.#known, rows);
  }
}
