import type { VNode } from "preact";

import { type Visit, within } from "../page.js";
import { Link, pathWith } from "../view/link.js";
import { words } from "../view/values.js";
import type { Given } from "./act.js";
import type { KnownAct } from "./act-contract.js";

/** Whether a person has a role for the act. The server checks it again. */
export function mayDo({ person }: Visit, { roles }: Pick<KnownAct, "roles">): boolean {
  return person.roles.some((role) => roles.includes(role));
}

/** The path of an act about something. */
function pathOfAct(visit: Visit, name: string, linked: Given = {}): string {
  return pathWith(within(visit, `/acts/${name}`), linked);
}

interface ActsProps {
  readonly visit: Visit;
  /** The acts that are possible now, each with what its link gives. */
  readonly acts: readonly (readonly [name: string, linked: Given])[];
}

/**
 * What a person can do about the thing of a page. Behind "More" is what cannot be undone, and what
 * needs another role: a person who lacks it sees whom to ask.
 */
export function Acts({ visit, acts }: ActsProps): VNode | null {
  const known = acts.flatMap(([name, linked]) => {
    const act = visit.acts.get(name);
    return act === undefined ? [] : [{ act, linked }];
  });
  if (known.length === 0) return null;
  const [usual = [], more = []] = [true, false].map((isUsual) =>
    known
      .filter(({ act }) => (mayDo(visit, act) && act.isFinal !== true) === isUsual)
      .map(({ act, linked }) => (
        <li key={act.name + JSON.stringify(linked)}>
          {mayDo(visit, act) ? (
            <Link to={pathOfAct(visit, act.name, linked)} class={act.isFinal ? "act final" : "act"}>
              {titleOf(act, linked)}
            </Link>
          ) : (
            <span class="act off">
              {titleOf(act, linked)} <small>needs {orOf(act.roles)}</small>
            </span>
          )}
        </li>
      )),
  );
  return (
    <section>
      <h2>Actions</h2>
      <ul class="acts">
        {usual.length === 0 ? more : usual}
        {usual.length === 0 || more.length === 0 ? null : (
          <li>
            <details>
              <summary class="act">More</summary>
              <ul class="acts">{more}</ul>
            </details>
          </li>
        )}
      </ul>
    </section>
  );
}

/** Two flags have an act each, of the same name. */
function titleOf({ title }: KnownAct, { flag }: Given): string {
  return flag === undefined ? title : `${title}: ${words(flag)}`;
}

/** The link of one act, in a table. Nothing for a person who lacks the role. */
export function ActLink({ visit, name, linked, isApart, children }: ActLinkProps): VNode | null {
  const act = visit.acts.get(name);
  if (act === undefined || !mayDo(visit, act)) return null;
  return (
    <Link to={pathOfAct(visit, name, linked)} isApart={isApart ?? false}>
      {children ?? act.title}
    </Link>
  );
}

interface ActLinkProps {
  readonly visit: Visit;
  readonly name: string;
  readonly linked: Given;
  /** Whether it opens in a tab of its own. */
  readonly isApart?: true;
  /** The words, in place of the title of the act. */
  readonly children?: string;
}

/** Says which role a person lacks for an act. */
export function NeedsRole({ visit, act }: { readonly visit: Visit; readonly act: KnownAct }): VNode | null {
  return mayDo(visit, act) ? null : <p class="refused">This needs the role {orOf(act.roles)}.</p>;
}

/** Returns the roles that an act needs, in words. */
function orOf(roles: readonly string[]): string {
  return roles.join(" or ");
}
