import type { Cell } from "../database.js";
import { lockMasterKeys } from "../master-keys.js";
import { chainedActs } from "./operator-acts.js";
import { OperatorChain } from "./operator-chain.js";
import { chainedProposals } from "./proposals.js";

/**
 * Chains the rows about operators that are older than the chain. Called once, right after the
 * migration that made the chain: later it would make a forged row a true one.
 */
export async function adoptOperators(cell: Cell): Promise<void> {
  await cell.transact(async (session) => {
    await lockMasterKeys(cell, session);
    const chain = new OperatorChain(cell);
    const rows = [...(await chainedActs(cell, session)), ...(await chainedProposals(cell, session))];
    for (const row of rows) await chain.append(session, row);
  });
}
