import type { CallHead } from "../../grpc/calls/rpc-result.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { OperatorError, UsageError } from "../../startup/operator-error.js";
import { readPages } from "../call/pages.js";
import type { CarriedCall, Carrier } from "./carrier.js";
import { adminContract } from "./contract.js";
import type { MachineOptions } from "./on-database.js";
import { RefusedCallError } from "./refused-call.js";
import type { MessageJson } from "./row.js";

/** The calls of one command to the AdminService: that of a server, or the one in this process. */
export class AdminSession {
  readonly contract = adminContract();
  readonly #carrier: Carrier;

  constructor(carrier: Carrier) {
    this.#carrier = carrier;
  }

  get isAtServer(): boolean {
    return this.#carrier.isAtServer;
  }

  /**
   * Makes one call. What its head tells stands beside the response: `unchanged` and `proposal`.
   * Repeats a lost call once if the repeat changes nothing. Throws an OperatorError if a field is
   * invalid, which is never sent, or a RefusedCallError.
   */
  async call(
    name: string,
    fields: MessageJson,
    { idempotencyKey, more }: Pick<CarriedCall, "idempotencyKey" | "more"> = {},
  ): Promise<MessageJson> {
    const { effect, canReplay, secondPerson } = this.contract.rpc(name);
    const callOnce = async (): Promise<MessageJson> => {
      let head: CallHead = { replayed: false };
      let response: MessageJson | undefined;
      // To the end: the status comes behind the response.
      for await (const message of this.stream(name, fields, { idempotencyKey, more, onHead: (told) => (head = told) }))
        response = message;
      if (response === undefined) throw new OperatorError("The server sent no response.");
      const { replayed, proposalId } = head;
      return {
        ...response,
        ...(canReplay || replayed ? { unchanged: replayed } : {}),
        ...(secondPerson ? { proposal: null } : {}),
        ...(proposalId === undefined ? {} : { proposal: await this.#proposal(proposalId) }),
      };
    };
    try {
      return await callOnce();
    } catch (error) {
      const isLost = error instanceof RefusedCallError && error.isLost;
      // Pieces are read once.
      if (!isLost || effect === "acts" || more !== undefined) throw error;
      return callOnce();
    }
  }

  async #proposal(proposal_id: string): Promise<MessageJson[string]> {
    const { proposal } = await this.call("GetProposal", { proposal_id });
    return proposal;
  }

  /**
   * Makes one call, and returns each message of its stream. The field organization_id of an rpc
   * that is about an organization goes into the metadata. Throws as `call` does.
   */
  async *stream(
    name: string,
    fields: MessageJson,
    told: Pick<CarriedCall, "idempotencyKey" | "onHead" | "more"> = {},
  ): AsyncGenerator<MessageJson> {
    const rpc = this.contract.rpc(name);
    const { organization_id: organizationId, ...own } = fields as { readonly organization_id?: string };
    const request = this.contract.encode(rpc.method, JSON.stringify(rpc.isOfOrganization ? own : fields));
    for await (const bytes of this.#carrier.carry({ rpc, request, organizationId, ...told })) {
      yield this.contract.decode(name, bytes);
    }
  }

  /**
   * Reads the pages of a list to the end, or until there are `limit` items. The response of an rpc
   * without pages is one.
   */
  async list(
    name: string,
    fields: MessageJson,
    { items, limit = Infinity }: { readonly items: string | readonly string[]; readonly limit?: number | undefined },
  ): Promise<readonly MessageJson[]> {
    const hasPages = this.contract.takes(name, "page_token");
    const read = await readPages(limit, async (page_size, page_token) => {
      const page = await this.call(name, hasPages ? { ...fields, page_size, page_token } : fields);
      const nextToken = (page["next_page_token"] ?? null) as string | null;
      return { items: [items].flat().flatMap((field) => itemsOf(page[field])), nextToken };
    });
    return read.items;
  }
}

/** Returns the items of a field, which may have one, or none. */
export function itemsOf(field: unknown): readonly MessageJson[] {
  const items: unknown = Array.isArray(field) ? field : [field ?? []].flat();
  return items as readonly MessageJson[];
}

/** Where a command works. */
export interface PlaceOptions extends MachineOptions {
  readonly server?: string | undefined;
  /** Whether the command changes nothing. */
  readonly onlyReads?: boolean | undefined;
}

/**
 * Returns the server that the command calls, and what names it. Undefined: it works in the
 * database. Throws an OperatorError if the options exclude each other.
 */
export function serverOf({ server, onDatabase }: PlaceOptions): { address: string; named: string } | undefined {
  if (onDatabase === true) {
    if (server === undefined) return undefined;
    throw new UsageError("Give --server or --on-database, not both.");
  }
  if (server !== undefined) return { address: server, named: "--server" };
  const { operatorServer } = configFromEnvironment();
  return operatorServer === undefined ? undefined : { address: operatorServer, named: "KESC_OPERATOR_SERVER" };
}

/**
 * Runs `work` with the server that the options or the environment name, or with the database.
 * Throws an OperatorError if neither can be used.
 */
export async function withSession<Result>(
  options: PlaceOptions,
  work: (session: AdminSession) => Promise<Result>,
): Promise<Result> {
  const server = serverOf(options);
  const config = configFromEnvironment();
  if (server === undefined) {
    const [{ DatabaseCarrier }, { withCurrentDatabase }] = await Promise.all([
      import("./on-database.js"),
      import("../../startup/open-database.js"),
    ]);
    return withCurrentDatabase(
      config.database,
      (database) => work(new AdminSession(new DatabaseCarrier(database, options))),
      options.onlyReads === true ? { onlyReads: true } : {},
    );
  }
  const { ServerCarrier } = await import("./at-server.js");
  const carrier = new ServerCarrier(server.address, { named: server.named, config });
  try {
    return await work(new AdminSession(carrier));
  } finally {
    carrier.close();
  }
}
