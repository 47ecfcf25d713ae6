import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

import { readRegistry } from "../../runtime/descriptor-files.js";
import { messageTypes } from "./message-types.js";

// Writes the types of what the console reads (docs/adr/0070). `npm run generate` runs it.

const FOLDER = "console/gen";

const sets = ["proto/kesc.binpb", "proto/kesc-admin.binpb"].map((file) => readFileSync(file));
mkdirSync(FOLDER, { recursive: true });
writeFileSync(`${FOLDER}/messages.ts`, messageTypes(readRegistry(sets)));
