import { ALSO_FOUND, type Finder, type FinderKeys, type Lookup } from "../domain/decision.js";
import { type Command, lookUp } from "../domain/operations.js";
import type { OrganizationId } from "../domain/values/ids.js";
import type { BatchLookup } from "./ports/store.js";

/** Collects the keys of all rows that the decisions of a batch may read. */
export function lookupOf(commands: readonly Command[]): BatchLookup {
  const organizationIds = new Set<OrganizationId>();
  const rows = new BatchRows();
  for (const command of commands) {
    organizationIds.add(command.organizationId);
    lookUp(command, rows);
  }
  return { organizationIds: [...organizationIds], keysOf: (finder) => rows.keysOf(finder) };
}

class BatchRows implements Lookup {
  readonly #keys = new Map<Finder, Set<FinderKeys[Finder]>>();

  need<Of extends Finder>(finder: Of, key: FinderKeys[Of]): void {
    this.#add(finder, key);
  }

  #add(finder: Finder, key: FinderKeys[Finder]): void {
    const keys = this.#keys.get(finder);
    if (keys === undefined) this.#keys.set(finder, new Set([key]));
    else keys.add(key);
    for (const other of ALSO_FOUND[finder] ?? []) this.#add(other, key);
  }

  keysOf<Of extends Finder>(finder: Of): readonly FinderKeys[Of][] {
    // Only `need` adds keys, and only those of the finder.
    return [...(this.#keys.get(finder) ?? [])] as FinderKeys[Of][];
  }
}
