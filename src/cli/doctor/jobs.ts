import type { DatabaseAddress } from "../../storage/database.js";
import { JOBS, lastRunsIn } from "../metrics-file.js";
import { checkNamed, type CheckResult, hoursOf } from "./finding.js";

// A daily job that takes its time. deploy/prometheus/alerts.yml has the same limit.
const AGE_MILLIS_MAX = 26 * 3_600_000;

interface Jobs {
  readonly folder: string;
  readonly now: number;
  readonly hasMpesa: boolean;
}

/**
 * Checks when each job ended last, as the files of the folder say. PostgreSQL has its own tools for
 * backups, and without M-Pesa nothing is reconciled. Throws if the folder cannot be read.
 */
export function checkJobs({ engine }: Pick<DatabaseAddress, "engine">, { folder, now, hasMpesa }: Jobs): CheckResult {
  const runs = lastRunsIn(folder);
  const jobs = JOBS.filter((job) => (job !== "backup" || engine === "sqlite") && (job !== "reconcile" || hasMpesa));
  return jobs.map((job) => {
    const { ok, warn } = checkNamed(`kesc ${job}`);
    const remedy = `Run it every day, with --metrics-file ${folder}/NAME.prom: see "Jobs" in docs/run.md.`;
    const at = runs.get(job);
    if (at === undefined) return warn(`No file in ${folder} says that it ever ended.`, remedy);
    const words = `It ended ${hoursOf(now - at)} ago.`;
    return now - at > AGE_MILLIS_MAX ? warn(words, remedy) : ok(words);
  });
}
