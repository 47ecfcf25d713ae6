import type { Leaves } from "../../seals/ports.js";
import type { LeafRange } from "../leaves/leaf-rows.js";
import type { Binding } from "../sql/engine.js";
import type { Reader } from "../sql/reader.js";
import type { WorkerFiles } from "./worker.js";
import { WorkerConnection, type WorkerResult } from "./worker-client.js";

/**
 * Runs the queries of lists on a thread of their own, so that no list delays the other calls. The
 * thread starts with the first list.
 */
export class SqliteListReader implements Pick<Reader, "rows" | "close"> {
  readonly #files: WorkerFiles;
  #opening: Promise<WorkerConnection> | undefined;

  constructor(files: Omit<WorkerFiles, "isReadOnly">) {
    this.#files = { ...files, isReadOnly: true };
  }

  async rows<Row>(sql: string, bindings: readonly Binding[] = []): Promise<readonly Row[]> {
    const result = await this.#request({ sql, bindings });
    return "rows" in result ? (result.rows as readonly Row[]) : [];
  }

  /** Computes the leaves on the thread, so that the rows need not come to this one. */
  async leaves(range: LeafRange): Promise<Leaves> {
    const result = await this.#request({ leaves: range });
    if (!("leaves" in result)) throw new Error("the thread of the lists gave no leaves");
    return result.leaves;
  }

  async #request(request: Parameters<WorkerConnection["request"]>[0]): Promise<WorkerResult> {
    const opening = (this.#opening ??= WorkerConnection.open(this.#files));
    try {
      const connection = await opening;
      return await connection.request(request);
    } catch (error) {
      // The next list replaces a thread that has ended or could not open the file.
      const connection = await opening.catch(() => undefined);
      if (connection?.isUsable !== true && this.#opening === opening) this.#opening = undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    const connection = await this.#opening?.catch(() => undefined);
    await connection?.close();
  }
}
