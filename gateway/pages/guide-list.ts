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
    guide("integrate", "integrate.md", "Integrate", "from an API key to production, on one page"),
    guide("sandbox", "sandbox.md", "The sandbox", "a rail on which nothing real moves, with every ending"),
  ],
  "Move money": [
    guide("deposits", "deposits.md", "Deposits", "users pay by hand, and their account is credited"),
    guide("limits", "limits.md", "Limits", "what may move in a day and a month"),
    guide("mpesa", "mpesa.md", "M-Pesa", "how shillings move, amounts, and result codes"),
  ],
  "Hear of changes": [
    guide("events", "events.md", "Events", "what happened: as a list, or as a stream"),
    guide("webhooks", "webhooks.md", "Webhooks", "events that come to you, and how to check them"),
  ],
  "Look up": [
    guide("api", "api.md", "The API", "calls, values, filters, pages and deadlines"),
    guide("errors", "errors.md", "Errors", "every reason, with its facts and what to do"),
    guide("books", "books.md", "The books", "statements, exports, the supply, M-Pesa and proofs"),
    guide("seals", "seals.md", "Seals", "how to check a book without trusting this service"),
    guide("versioning", "versioning.md", "Versions", "what may change, and what may not"),
  ],
};

function guide(name: string, file: string, label: string, about: string): Guide {
  return { name, file, label, about };
}
