// Reads the events of an organization in their order, none lost and none twice, whatever breaks.
//
//   KESC_API_KEY=kesc_… node watch.mjs http://127.0.0.1:8080 0
//
// It prints each event on a line. Its last argument is the sequence after which it begins.
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

// The gateway sends at least a comment every 15 seconds. A connection that is silent is dead.
const SILENCE_MILLIS_MAX = 45_000;

/**
 * Yields each event after the sequence `after`. Store the sequence of an event with its effect, in
 * one transaction of your own database, and begin there after a restart.
 *
 * Throws if the gateway refuses the request itself, such as a wrong key. Waits while it is away.
 */
export async function* watchEvents({ url, key, after = 0, signal }) {
  let lastId = String(after);
  let retryMillis = 1_000;
  while (signal?.aborted !== true) {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), SILENCE_MILLIS_MAX);
    try {
      const response = await fetch(`${url}/events`, {
        headers: { Accept: "text/event-stream", "X-API-Key": key, "Last-Event-ID": lastId },
        signal: signal === undefined ? silence.signal : AbortSignal.any([silence.signal, signal]),
      });
      if (!response.ok) await refuse(response);
      for await (const block of blocksOf(response.body)) {
        timer.refresh();
        const fields = fieldsOf(block);
        if (fields.retry !== undefined) retryMillis = Number(fields.retry);
        // The service says why it ends the stream. A key that was revoked is refused at the next try.
        if (fields.event === "error") break;
        if (fields.data !== undefined) yield JSON.parse(fields.data);
        // Only now, because the caller has processed the event when it asks for the next.
        if (fields.id !== undefined) lastId = fields.id;
      }
    } catch (error) {
      if (error instanceof RefusedError) throw error;
    } finally {
      clearTimeout(timer);
    }
    if (signal?.aborted !== true) await sleep(retryMillis);
  }
}

class RefusedError extends Error {}

/** Throws a RefusedError unless the same request may succeed later. */
async function refuse(response) {
  const { code, detail } = await response.json();
  const mayPass = response.status >= 500 || response.status === 429;
  throw mayPass ? new Error(code) : new RefusedError(`${code}: ${detail}`);
}

/** Yields the text between two empty lines. */
async function* blocksOf(body) {
  let text = "";
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    text += part;
    let from = 0;
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n", from)) {
      yield text.slice(from, end);
      from = end + 2;
    }
    text = text.slice(from);
  }
}

/** Reads the lines "name: value". A line that begins with a colon is a comment. */
function fieldsOf(block) {
  const fields = {};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(": ");
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
  }
  return fields;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [, , url = "http://127.0.0.1:8080", after = "0"] = process.argv;
  for await (const event of watchEvents({ url, key: process.env.KESC_API_KEY, after })) {
    process.stdout.write(`${JSON.stringify(event)}\n`);
  }
}
