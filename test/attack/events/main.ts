/**
 * `make events`: a reader of events at each of two servers, one of which is killed again and again.
 */
import { parseArgs } from "node:util";

import { takeDownAll } from "../../support/at-the-end.js";
import { optionsOrUsage, wholeNumber } from "../command-line.js";
import { watchThroughKills } from "./watch-through-kills.js";

const EVENTS_MAX = 100_000_000;
const KILLS_MAX = 1_000;
const USAGE = `usage: make events ARGS="--events 1000000 --kills 10"`;

const options = optionsOrUsage((args) => {
  const { values } = parseArgs({ args, options: { events: { type: "string" }, kills: { type: "string" } } });
  return {
    events: wholeNumber("events", values.events ?? "1000000", { max: EVENTS_MAX }),
    kills: wholeNumber("kills", values.kills ?? "10", { min: 0, max: KILLS_MAX }),
  };
}, USAGE);
if (options !== undefined) {
  try {
    await watchThroughKills({ ...options, print: (line) => process.stdout.write(`${line}\n`) });
  } finally {
    await takeDownAll();
  }
}
