import { readFileSync } from "node:fs";

import { CONTRACT_URL, readContract } from "../../../gateway/contract/contract.js";

/** Every route of the contract, with its rpc, and which of its string fields hold decimals. */
export const { routes: ROUTES, isDecimal } = readContract(readFileSync(CONTRACT_URL));
