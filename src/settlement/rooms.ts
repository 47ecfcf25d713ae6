import { CALLS_MAX } from "./limits.js";

interface CallRoom {
  /** The work that runs, each with at most one call at a time. */
  busy: number;
  readonly line: (() => void)[];
}

/** The room for work at each rail account. Work that finds none may wait in line for it. */
export class Rooms<Id> {
  readonly #rooms = new Map<Id, CallRoom>();
  readonly #short = new Set<Id>();
  readonly #onRoom: () => void;

  /** `onRoom` is called when there is room again at an account that was too full for some work. */
  constructor(onRoom: () => void) {
    this.#onRoom = onRoom;
  }

  /** For how much work there is room now. Remembers if there is none. */
  freeOf(id: Id): number {
    const free = CALLS_MAX - (this.#rooms.get(id)?.busy ?? 0);
    if (free === 0) this.#short.add(id);
    return free;
  }

  waitingOf(id: Id): number {
    return this.#rooms.get(id)?.line.length ?? 0;
  }

  /** Runs the work as soon as there is room, in the order of the calls. */
  async in<Result>(id: Id, work: () => Promise<Result>): Promise<Result> {
    const room = this.#rooms.get(id) ?? { busy: 0, line: [] };
    this.#rooms.set(id, room);
    if (room.busy < CALLS_MAX) room.busy += 1;
    else await new Promise<void>((resolve) => room.line.push(resolve));
    try {
      return await work();
    } finally {
      this.#leave(id, room);
    }
  }

  #leave(id: Id, room: CallRoom): void {
    const next = room.line.shift();
    if (next !== undefined) {
      next();
      return;
    }
    room.busy -= 1;
    if (room.busy === 0) this.#rooms.delete(id);
    if (this.#short.delete(id)) this.#onRoom();
  }
}
