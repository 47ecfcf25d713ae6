import type { Finding } from "../../src/verify/findings.js";
import { verify } from "../../src/verify/verify.js";
import { openDatabaseAt } from "./databases.js";
import { TEST_ACTOR } from "./names.js";

/** Returns what `kesc verify` finds, but that TEST_ACTOR has no key in the book. */
export async function findingsIn(database: Parameters<typeof verify>[0]): Promise<readonly Finding[]> {
  return (await verify(database)).firstFindings.filter(({ found }) => found !== TEST_ACTOR);
}

/** The same of the database at this URL. */
export async function findingsAt(url = ""): Promise<readonly Finding[]> {
  const database = await openDatabaseAt(url);
  try {
    return await findingsIn(database);
  } finally {
    await database.close();
  }
}
