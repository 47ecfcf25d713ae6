import type { Bugs } from "./plant.js";

/** Bugs in what goes out: webhooks, statements, balances of the past, and the gateway's streams. */
export const OUTGOING: Bugs = {
  "src/webhooks/track.js": {
    "webhooks: the cursor passes an event that is under way": {
      "return first === undefined ? this.#readSeq : first - 1;": "return this.#readSeq;",
    },
  },
  "src/webhooks/window.js": {
    "webhooks: an event that failed is settled, and not tried again": {
      "this.#setRetry(seq, { seq, tries, nextAt: nextTryAt(tries, moment), last });": "",
    },
    "webhooks: a probe counts as a try of its event": { "if (isProbe) {": "if (false) {" },
  },
  "src/webhooks/sign.js": {
    "webhooks: an earlier secret signs for ever": { "validUntil === undefined || validUntil > now": "true" },
    "webhooks: the time in the signature is that of the event, not of the attempt": {
      "Math.floor(now / 1_000)": "Math.floor(recordedAt / 1_000)",
    },
  },
  "src/storage/webhooks/delivery-store.js": {
    "webhooks: a state is stored although somebody has changed the endpoint since": {
      "WHERE id = ? AND revision = ? AND status = 'ACTIVE' RETURNING logged":
        "WHERE id = ? AND revision >= ? AND status = 'ACTIVE' RETURNING logged",
    },
    "webhooks: what waits goes on waiting once an endpoint is active again": {
      "endpoint.retryAt === RETRY_ALL": "false",
    },
  },
  "src/storage/sql/records/webhook-endpoint-rows.js": {
    "webhooks: an old row of an endpoint that somebody has put back counts": { "newestSeq > changedSeq": "false" },
    "webhooks: a row of an endpoint that somebody has changed counts": {
      "!hasTrueMac(keys, WEBHOOK_ENDPOINTS, row)": "false",
    },
  },
  "src/webhooks/webhooks.js": {
    "webhooks: a book that is restored or moving is delivered to its end": { "await this.#forgetClosed();": "" },
    "webhooks: receivers of one organization that hang hold all deliveries": {
      "new FairShare(CELL_UNDER_WAY_MAX)": "new FairShare(2 * CELL_UNDER_WAY_MAX)",
    },
    "webhooks: the first organization gets all turns": {
      "again.push(id);\n                this.#turns = [...this.#turns.filter((other) => other !== id), id];":
        "again.push(id);\n                waiting.unshift(id);",
    },
  },
  "src/webhooks/limits.js": {
    "webhooks: an endpoint gets twice the rate": { "STARTS_PER_TICK_MAX = 10;": "STARTS_PER_TICK_MAX = 20;" },
  },
  "src/webhooks/deliver.js": {
    "webhooks: a name is checked by a look-up of its own, before that of the socket": {
      "const publicHosts = new RequestFilteringHttpsAgent({ ...pool, denyIPAddressList: [IPV4_COMPATIBLE] });": `const publicHosts = new (class extends RequestFilteringHttpsAgent {
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
  },
  "src/statements/statement.js": {
    "statements: a hold that is released comes in once more": {
      "inCents: to && !from ? cents : 0": "inCents: to ? cents : 0",
    },
  },
  "src/statements/period.js": {
    "statements: the last day of a period does not belong to it": {
      "parseMoment(text.end, endOfDay)": "parseMoment(text.end, startOfDay)",
    },
    "statements: a period that is not final yet is written down": {
      "return time <= now - FINAL_MILLIS;": "return time <= now;",
    },
  },
  "src/statements/as-of.js": {
    "statements: a closed account was never open": { 'step.found.seq <= seq ? "CLOSED" : "ACTIVE"': '"CLOSED"' },
  },
  "src/storage/statements/history.js": {
    "statements: the balance of a time is that of the row after it": {
      'goesOn = { sql: "walk.seq > ?"': 'goesOn = { sql: "walk.seq > ? + 1"',
    },
  },
  "src/storage/statements/supply.js": {
    "statements: the supply of a point counts the row of its mark twice": {
      "WHERE book = ? AND seq > ? AND seq <= ? AND amount_cents":
        "WHERE book = ? AND seq >= ? AND seq <= ? AND amount_cents",
    },
  },
  "gateway/rest/stream-body.js": {
    "streams: the gateway writes on although the client does not read": {
      "if (res.write(text))\n            return;": "res.write(text);\n        return;",
    },
    "streams: a stream that fails in the middle looks whole": {
      "this.#res.destroy();\n        else\n            this.#res.end(this.#form.problem":
        "this.#res.end(this.#form.end());\n        else\n            this.#res.end(this.#form.problem",
    },
  },
  "gateway/rest/stream-handler.js": {
    "streams: a client that reconnects gets the events after its first query": {
      "Object.assign(message, { [resumption.after.localName]: position.value });": "",
    },
  },
  "gateway/http/open-streams.js": {
    "streams: a key holds all places of streams": { "new FairShare(max)": "new FairShare(2 * max)" },
  },
  "runtime/csv.js": {
    "streams: a text in CSV runs as a formula": { "GUARDED.test(cell)": "false" },
  },
};
