/** `make results`: writes the newest results into docs/performance.md, between its markers. */
import { readFileSync, writeFileSync } from "node:fs";

import { withResults } from "./render.js";
import { newestResults } from "./results.js";

const DOCUMENT = new URL("../../../docs/performance.md", import.meta.url);

writeFileSync(DOCUMENT, withResults(readFileSync(DOCUMENT, "utf8"), newestResults()));
