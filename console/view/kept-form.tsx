import type { VNode } from "preact";

import type { Visit } from "../page.js";

interface KeptFormProps {
  readonly visit: Visit;
  readonly given: Readonly<Record<string, string>>;
  readonly needsPasskey?: boolean;
  readonly children: VNode | readonly VNode[];
}

/** A form that keeps rows, or a file: more than a usual form may have. */
export function KeptForm({ visit, given, needsPasskey = false, children }: KeptFormProps): VNode {
  return (
    <form
      method="post"
      action={visit.path}
      encType="multipart/form-data"
      class="form"
      {...(needsPasskey ? { "data-passkey": "get" } : {})}
    >
      <input type="hidden" name="form_token" value={visit.formToken} />
      {Object.entries(given).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {children}
    </form>
  );
}
