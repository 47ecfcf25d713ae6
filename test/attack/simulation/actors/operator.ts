import type { BookState } from "../../../../src/domain/book.js";
import type { OrganizationId } from "../../../../src/domain/values/ids.js";
import type { Disk } from "../disks/disk.js";
import { type Actor, type May, note, type World } from "./world.js";

const GIVE_UP_WEIGHT = 1;

/** Begins to move books to another cell, and gives each move up: servers serve the book again. */
export class Operator implements Actor {
  readonly #world: World;
  readonly #disk: Disk;
  readonly #moving = new Set<OrganizationId>();

  constructor(world: World, disk: Disk) {
    this.#world = world;
    this.#disk = disk;
  }

  offer(may: May): void {
    const { random, faults } = this.#world;
    for (const organizationId of this.#disk.organizations) {
      if (this.#moving.has(organizationId)) {
        may(GIVE_UP_WEIGHT, () => {
          if (this.#set(organizationId, random.pick(["OPEN", "RESTORED"]))) this.#moving.delete(organizationId);
        });
      } else {
        may(faults.move, () => {
          if (!this.#set(organizationId, random.pick(["MOVING", "MOVED"]))) return;
          this.#moving.add(organizationId);
          this.#world.tally.count("other faults", "book moving");
        });
      }
    }
  }

  #set(organizationId: OrganizationId, state: BookState): boolean {
    const isSet = this.#disk.setState(organizationId, state);
    if (isSet) this.#world.judge.stateSet(organizationId, state);
    note(this.#world, "operator", () => `${isSet ? "sets" : "cannot set"} the book of ${organizationId} to ${state}`);
    return isSet;
  }
}
