import type { Mutant } from "./plant.js";

const WINDOW = "src/webhooks/window.js";
const WEBHOOKS = "src/webhooks/webhooks.js";
const SIGN = "src/webhooks/sign.js";
const DELIVERY_STORE = "src/storage/webhooks/delivery-store.js";
const STATEMENT = "src/statements/statement.js";
const AS_OF = "src/statements/as-of.js";
const STREAM_BODY = "gateway/rest/stream-body.js";

/** Bugs in what goes out: webhooks, statements, balances of the past, and the gateway's streams. */
export const OUTGOING: readonly Mutant[] = [
  {
    name: "webhooks: the cursor passes an event that is under way",
    file: "src/webhooks/track.js",
    edits: [{ from: "return first === undefined ? this.#readSeq : first - 1;", to: "return this.#readSeq;" }],
  },
  {
    name: "webhooks: an event that failed is settled, and not tried again",
    file: WINDOW,
    edits: [{ from: "this.#setRetry(seq, { seq, tries, nextAt: nextTryAt(tries, moment), last });", to: "" }],
  },
  {
    name: "webhooks: a probe counts as a try of its event",
    file: WINDOW,
    edits: [{ from: "if (isProbe) {", to: "if (false) {" }],
  },
  {
    name: "webhooks: an earlier secret signs for ever",
    file: SIGN,
    edits: [{ from: "validUntil === undefined || validUntil > now", to: "true" }],
  },
  {
    name: "webhooks: the time in the signature is that of the event, not of the attempt",
    file: SIGN,
    edits: [{ from: "Math.floor(now / 1_000)", to: "Math.floor(recordedAt / 1_000)" }],
  },
  {
    name: "webhooks: a state is stored although somebody has changed the endpoint since",
    file: DELIVERY_STORE,
    edits: [
      {
        from: "WHERE id = ? AND revision = ? AND status = 'ACTIVE' RETURNING logged",
        to: "WHERE id = ? AND revision >= ? AND status = 'ACTIVE' RETURNING logged",
      },
    ],
  },
  {
    name: "webhooks: a book that is restored or moving is delivered to its end",
    file: WEBHOOKS,
    edits: [{ from: "await this.#forgetClosed();", to: "" }],
  },
  {
    name: "webhooks: receivers of one organization that hang hold all deliveries",
    file: WEBHOOKS,
    edits: [{ from: "new FairShare(CELL_UNDER_WAY_MAX)", to: "new FairShare(2 * CELL_UNDER_WAY_MAX)" }],
  },
  {
    name: "webhooks: the first organization gets all turns",
    file: WEBHOOKS,
    edits: [
      {
        from: "again.push(id);\n                this.#turns = [...this.#turns.filter((other) => other !== id), id];",
        to: "again.push(id);\n                waiting.unshift(id);",
      },
    ],
  },
  {
    name: "webhooks: an endpoint gets twice the rate",
    file: "src/webhooks/limits.js",
    edits: [{ from: "STARTS_PER_TICK_MAX = 10;", to: "STARTS_PER_TICK_MAX = 20;" }],
  },
  {
    name: "webhooks: a name is checked by a look-up of its own, before that of the socket",
    file: "src/webhooks/deliver.js",
    edits: [
      {
        from: "const publicHosts = new RequestFilteringHttpsAgent({ ...pool, denyIPAddressList: [IPV4_COMPATIBLE] });",
        to: `const publicHosts = new (class extends RequestFilteringHttpsAgent {
        createConnection(options, onConnected) {
            if (/^[0-9a-f.:]+$/.test(options.host)) return super.createConnection(options, onConnected);
            const twice = (name, given, done) => options.lookup(name, given, (error, found) => {
                if (error === null && found.every(({ address }) => !/^(127|10|169)[.]|^::/.test(address))) options.lookup(name, given, done);
                else done(error ?? new Error("it is not allowed. Because it is private"));
            });
            return https.Agent.prototype.createConnection.call(this, { ...options, lookup: twice }, onConnected);
        }
    })(pool);`,
      },
    ],
  },
  {
    name: "webhooks: changes of endpoints take no turns",
    file: "src/grpc/services/webhooks/change-turns.js",
    edits: [{ from: "underWayMax: 1 ", to: "underWayMax: 64 " }],
  },
  {
    name: "statements: a hold that is released comes in once more",
    file: STATEMENT,
    edits: [{ from: "inCents: to && !from ? cents : 0", to: "inCents: to ? cents : 0" }],
  },
  {
    name: "statements: the last day of a period does not belong to it",
    file: "src/statements/period.js",
    edits: [{ from: "parseMoment(text.end, endOfDay)", to: "parseMoment(text.end, startOfDay)" }],
  },
  {
    name: "statements: a period that is not final yet is written down",
    file: "src/statements/period.js",
    edits: [{ from: "return time <= now - FINAL_MILLIS;", to: "return time <= now;" }],
  },
  {
    name: "statements: a closed account was never open",
    file: AS_OF,
    edits: [{ from: 'step.found.seq <= seq ? "CLOSED" : "ACTIVE"', to: '"CLOSED"' }],
  },
  {
    name: "statements: the balance of a time is that of the row after it",
    file: "src/storage/statements/history.js",
    edits: [{ from: 'goesOn = { sql: "walk.seq > ?"', to: 'goesOn = { sql: "walk.seq > ? + 1"' }],
  },
  {
    name: "statements: the supply of a point counts the row of its mark twice",
    file: "src/storage/statements/supply.js",
    edits: [
      {
        from: "WHERE book = ? AND seq > ? AND seq <= ? AND amount_cents",
        to: "WHERE book = ? AND seq >= ? AND seq <= ? AND amount_cents",
      },
    ],
  },
  {
    name: "streams: the gateway writes on although the client does not read",
    file: STREAM_BODY,
    edits: [{ from: "if (res.write(text))\n            return;", to: "res.write(text);\n        return;" }],
  },
  {
    name: "streams: a stream that fails in the middle looks whole",
    file: STREAM_BODY,
    edits: [
      {
        from: "this.#res.destroy();\n        else\n            this.#res.end(this.#form.problem",
        to: "this.#res.end(this.#form.end());\n        else\n            this.#res.end(this.#form.problem",
      },
    ],
  },
  {
    name: "streams: a client that reconnects gets the events after its first query",
    file: "gateway/rest/stream-handler.js",
    edits: [{ from: "Object.assign(message, { [resumption.after.localName]: position.value });", to: "" }],
  },
  {
    name: "streams: a key holds all places of streams",
    file: "gateway/http/open-streams.js",
    edits: [{ from: "new FairShare(max)", to: "new FairShare(2 * max)" }],
  },
  {
    name: "streams: a text in CSV runs as a formula",
    file: "runtime/csv.js",
    edits: [{ from: "GUARDED.test(cell)", to: "false" }],
  },
];

const OUTGOING_MUTANTS: ReadonlySet<Mutant> = new Set(OUTGOING);

/** Whether the bug is in what goes out. */
export function isOutgoing(mutant: Mutant): boolean {
  return OUTGOING_MUTANTS.has(mutant);
}
