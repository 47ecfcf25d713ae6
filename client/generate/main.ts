import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

import { readContract } from "../../contract/contract.js";
import { errorReasonOf } from "../../gateway/problems/reasons.js";
import { clientContractOf } from "./client-contract.js";
import { messageTypes } from "./message-types.js";
import { tables } from "./tables.js";

// Writes the types and tables of the client (docs/adr/0047). `npm run generate` runs it.

const FOLDER = "client/gen";

const contract = readContract(readFileSync("proto/kesc.binpb"));
const client = clientContractOf(contract);
mkdirSync(FOLDER, { recursive: true });
writeFileSync(`${FOLDER}/messages.ts`, messageTypes(client, errorReasonOf(contract.registry)));
writeFileSync(`${FOLDER}/tables.ts`, tables(contract, client));
