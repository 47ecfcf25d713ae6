import type { BookState } from "../../../../src/domain/book.js";
import type { OrganizationId } from "../../../../src/domain/values/ids.js";
import type { Disk } from "../disks/disk.js";
import { type Actor, type May, note, type World } from "./world.js";

const GIVE_UP_WEIGHT = 1;

/**
 * Begins to move books to another cell, and gives each move up: servers serve the book again. Also
 * suspends organizations, and resumes each.
 */
export class Operator implements Actor {
  readonly #world: World;
  readonly #disk: Disk;
  readonly #moving = new Set<OrganizationId>();
  readonly #suspended = new Set<OrganizationId>();

  constructor(world: World, disk: Disk) {
    this.#world = world;
    this.#disk = disk;
  }

  offer(may: May): void {
    for (const organizationId of this.#disk.organizations) {
      this.#offerMove(organizationId, may);
      this.#offerSuspension(organizationId, may);
    }
  }

  #offerMove(organizationId: OrganizationId, may: May): void {
    const { random, faults } = this.#world;
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

  #offerSuspension(organizationId: OrganizationId, may: May): void {
    const isSuspended = !this.#suspended.has(organizationId);
    may(isSuspended ? this.#world.faults.suspend : GIVE_UP_WEIGHT, () => {
      if (!this.#disk.setSuspended(organizationId, isSuspended)) return;
      this.#world.judge.suspendedSet(organizationId, isSuspended);
      note(this.#world, "operator", () => `${isSuspended ? "suspends" : "resumes"} ${organizationId}`);
      if (!isSuspended) {
        this.#suspended.delete(organizationId);
        return;
      }
      this.#suspended.add(organizationId);
      this.#world.tally.count("other faults", "organization suspended");
    });
  }

  #set(organizationId: OrganizationId, state: BookState): boolean {
    const isSet = this.#disk.setState(organizationId, state);
    if (isSet) this.#world.judge.stateSet(organizationId, state);
    note(this.#world, "operator", () => `${isSet ? "sets" : "cannot set"} the book of ${organizationId} to ${state}`);
    return isSet;
  }
}
