/** `make docs`: writes what the documents take from the code and from bench/results. */
import { writeFileSync } from "node:fs";

import { generatedDocuments } from "./support/documents/generated.js";

for (const [file, text] of generatedDocuments()) writeFileSync(file, text);
