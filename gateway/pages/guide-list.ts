export interface Guide {
  /** The last part of its path, /docs/guides/<name>. */
  readonly name: string;
  /** In the folder docs. */
  readonly file: string;
  readonly label: string;
  readonly about: string;
}

export const GUIDES_PATH = "/docs/guides";

/**
 * The documents that callers read, in groups. No other file of docs is served: the pages of
 * operators name their machines and their weak points.
 */
export const GUIDES: Readonly<Record<string, readonly Guide[]>> = {
  Start: [
    guide("rest", "guides/rest.md", "REST with curl", "an account, a mint and a redemption in five minutes"),
    guide("grpc", "guides/grpc.md", "gRPC from a shell", "reflection, buf curl and kesc call"),
    guide("python", "guides/python.md", "gRPC with Python", "the same from Python, without generated code"),
    guide("typescript", "guides/typescript.md", "TypeScript", "the same with the client @kesc/client"),
    guide("sandbox", "sandbox.md", "The sandbox", "a rail on which nothing real moves, with every ending"),
  ],
  Guides: [
    guide("retries", "guides/retries.md", "Retries", "what to repeat, when, and why it never pays twice"),
    guide("bulk-payouts", "guides/bulk-payouts.md", "Bulk payouts", "salaries and refunds from a CSV file"),
    guide(
      "take-deposits-by-paybill",
      "guides/take-deposits-by-paybill.md",
      "Take deposits by paybill",
      "users pay by hand, and their account is credited",
    ),
    guide("deposits", "deposits.md", "Deposits", "shillings without an order: states, reasons and receipts"),
    guide("errors", "errors.md", "Errors", "what an error holds, and every reason"),
    guide("events", "events.md", "Events", "what happened: as a list, or as a stream"),
    guide("webhooks", "webhooks.md", "Webhooks", "events that come to you, and how to check them"),
    guide("limits", "limits.md", "Limits", "what may move in a day and a month"),
    guide("mpesa", "mpesa.md", "M-Pesa", "how shillings move, amounts, and result codes"),
    guide("books", "books.md", "The books", "statements, exports, the supply, M-Pesa and proofs"),
    guide("seals", "seals.md", "Seals", "how to check a book without trusting this service"),
  ],
  Reference: [
    guide("api", "api.md", "The API", "calls, values, filters, pages and deadlines"),
    guide("versioning", "versioning.md", "Versions", "what may change, and what may not"),
  ],
};

function guide(name: string, file: string, label: string, about: string): Guide {
  return { name, file, label, about };
}
