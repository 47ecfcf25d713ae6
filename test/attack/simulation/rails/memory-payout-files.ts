import type { ApprovedPayoutFile } from "../../../../src/domain/payout-file.js";
import type { OpenPart, PayoutItem, PayoutStore, RefusedRow } from "../../../../src/payouts/ports.js";
import type { MemoryDisk } from "../disks/memory-disk.js";

interface StoredPart {
  readonly items: readonly PayoutItem[];
  /** Undefined until each row of the part is decided. */
  refused: readonly RefusedRow[] | undefined;
}

/** The parts of the files of payouts of a memory disk, for the runner. */
export class MemoryPayoutFiles implements PayoutStore {
  readonly #disk: MemoryDisk;
  /** By the hash of the rows. */
  readonly #parts = new Map<string, readonly StoredPart[]>();

  constructor(disk: MemoryDisk) {
    this.#disk = disk;
  }

  store(rowsSha256: string, parts: readonly (readonly PayoutItem[])[]): void {
    this.#parts.set(
      rowsSha256,
      parts.map((items) => ({ items, refused: undefined })),
    );
  }

  /** Whether the runner has something to do. */
  get isOpen(): boolean {
    return this.#open().length > 0;
  }

  /** The rows that the ledger refused. Undefined while a part of the file is open. */
  refusedIn({ rowsSha256 }: Pick<ApprovedPayoutFile, "rowsSha256">): readonly RefusedRow[] | undefined {
    const parts = this.#parts.get(rowsSha256) ?? [];
    return parts.some(({ refused }) => refused === undefined) ? undefined : parts.flatMap((part) => part.refused ?? []);
  }

  open(): Promise<readonly OpenPart[]> {
    return Promise.resolve(this.#open());
  }

  finish({ file: { rowsSha256 }, part }: OpenPart, refused: readonly RefusedRow[]): Promise<void> {
    const stored = this.#parts.get(rowsSha256)?.[part - 1];
    if (stored !== undefined) stored.refused ??= refused;
    return Promise.resolve();
  }

  removeUnapproved(): Promise<void> {
    return Promise.resolve();
  }

  #open(): readonly OpenPart[] {
    return this.#disk.payoutFiles.flatMap((file): readonly OpenPart[] => {
      const parts = this.#parts.get(file.rowsSha256) ?? [];
      const index = parts.findIndex(({ refused }) => refused === undefined);
      return index < 0 ? [] : [{ file, part: index + 1, items: parts[index]?.items ?? [] }];
    });
  }
}
