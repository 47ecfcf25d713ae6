import type { ComponentChildren, VNode } from "preact";

// One slash, since "//host" and "/\host" lead to another host. Or a part of the page.
const OWN_PATH = /^(?:\/(?![/\\])|#)[\x21-\x7e]*$/;

interface LinkProps {
  readonly to: string;
  readonly class?: string;
  readonly isCurrent?: boolean;
  /** Whether it opens in a tab of its own, because this page could not be shown again. */
  readonly isApart?: boolean;
  /** The key that follows "g" to open it. */
  readonly shortcut?: string | undefined;
  readonly children: ComponentChildren;
}

/** The only link of the console. Throws for anything but a path of the console: a bug. */
export function Link({ to, isCurrent = false, isApart = false, shortcut, children, ...rest }: LinkProps): VNode {
  if (!isOwnPath(to)) throw new Error("a link leads to a path of the console only");
  return (
    <a
      href={to}
      data-key={shortcut}
      {...rest}
      {...(isCurrent ? { "aria-current": "page" as const } : {})}
      {...(isApart ? { target: "_blank", rel: "noopener" } : {})}
    >
      {children}
    </a>
  );
}

/** Whether a link leads to a page of the console, or to a part of this page. */
export function isOwnPath(to: string): boolean {
  return OWN_PATH.test(to);
}

/** Returns a path with a query. Leaves out what is empty. */
export function pathWith(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join("&")}`;
}
