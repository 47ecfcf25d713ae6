import { GUIDES_PATH } from "./guide-list.js";
import { HOME_TITLE, type Page } from "./page.js";

/** The page at /, which says what this is, and where to go. */
export function homePage({ hasDocs }: { readonly hasDocs: boolean }): Page {
  const docs = [
    { term: GUIDES_PATH, href: GUIDES_PATH, text: "how to begin, to repeat calls, and to get events" },
    { term: "/docs", href: "/docs", text: "every call, to read and to try out with your key" },
  ];
  return {
    title: HOME_TITLE,
    blocks: [
      {
        kind: "paragraph",
        text: "Accounts in KESC, a stablecoin that Kenyan shillings back one to one. This is the gateway: the API over HTTP and JSON.",
      },
      {
        kind: "rows",
        rows: [
          ...(hasDocs ? docs : []),
          {
            term: "/openapi.json",
            href: "/openapi.json",
            text: "the same as OpenAPI 3.1, for programs that make clients",
          },
          {
            term: "/errors",
            href: "/errors",
            text: "every reason for which a call is refused, and what to do",
          },
          { term: "/readyz", href: "/readyz", text: "whether the gateway and the server behind it take requests" },
          { term: "/livez", href: "/livez", text: "whether this process runs" },
        ],
      },
      {
        kind: "paragraph",
        text: "Calls need an API key, which the operator of this service gives out. These pages need none.",
      },
    ],
  };
}
