import type { Job, LoadResult, Reply } from "./load/job.js";
import type { Program } from "./servers.js";

/**
 * Has the load process do one job. Rejects when the job could not be done at all, or the process
 * has ended.
 */
export function load(loader: Program, job: Job): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const { process: child } = loader;
    const onExit = (): void => {
      reject(new Error("the load process has ended"));
    };
    child.once("exit", onExit);
    child.once("message", (reply: Reply) => {
      child.off("exit", onExit);
      if ("result" in reply) resolve(reply.result);
      else reject(new Error(reply.failure));
    });
    child.send(job);
  });
}
