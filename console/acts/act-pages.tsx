import { randomUUID } from "node:crypto";

import { status } from "@grpc/grpc-js";
import type { VNode } from "preact";

import { type Page, type Shown, type Visit, within } from "../page.js";
import type { Fields } from "../upstream/contract.js";
import { isUnknown, type Refusal } from "../upstream/refusal.js";
import type { Told } from "../upstream/upstream.js";
import { Facts, Refused } from "../view/parts.js";
import { Text, words } from "../view/values.js";
import type { Given } from "./act.js";
import { allOf, isAskedAtOnce, type KnownAct, linkedOf, requestOf } from "./act-contract.js";
import { Confirm, Filled, Form, Linked } from "./act-form.js";
import { mayDo, NeedsRole } from "./act-links.js";
import { textOf } from "./acts.js";
import { Standing, standingOf } from "./standing.js";
import { accountIdOf, namedBy, suggestionsFor } from "./subjects.js";

// One page for the form, the question and the result. A GET shows the form, and does nothing. The
// form of an act that asks only why is its question, too.
const asked: Page = {
  path: "/acts/:act",
  show(visit) {
    const act = actOf(visit);
    return Promise.resolve(act && formPage(visit, act, Object.fromEntries(visit.query)));
  },
};

const sent: Page = {
  path: asked.path,
  method: "POST",
  async show(visit) {
    const act = actOf(visit);
    if (act === undefined) return undefined;
    // The server would refuse it, too.
    if (!mayDo(visit, act)) return formPage(visit, act, visit.form);
    if (visit.form["step"] === "edit") return formPage(visit, act, visit.form);
    return visit.form["step"] === "do" ? doAct(visit, act) : confirm(visit, act);
  },
};

export const ACT_PAGES: readonly Page[] = [asked, sent];

function actOf({ acts, ids, organization }: Visit): KnownAct | undefined {
  const act = acts.get(ids["act"] ?? "");
  return act?.isOfOrganization === true && organization === undefined ? undefined : act;
}

async function formPage(visit: Visit, act: KnownAct, given: Given, refusal?: Refusal): Promise<Shown> {
  const [{ subjects, refusal: missing }, suggestions, standing] = await Promise.all([
    namedBy(visit, linkedOf(act, given)),
    suggestionsFor(visit, act.fields),
    act.mayPropose && act.subject !== undefined ? standingOf(visit, given[act.subject] ?? "") : undefined,
  ]);
  const props = { visit, act, subjects };
  const waiting = <Standing visit={visit} reading={standing} />;
  const problem = refusal ?? missing;
  const body = isAskedAtOnce(act) ? (
    <Confirm {...props} given={{ ...given, key: randomUUID() }} needsPasskey={false} asks>
      <Question act={act} />
      {problem === undefined ? null : <Refused refusal={problem} />}
      <NeedsRole visit={visit} act={act} />
      {waiting}
    </Confirm>
  ) : (
    <Form {...props} {...{ given, suggestions, refusal }}>
      {waiting}
    </Form>
  );
  return { title: act.title, isForm: true, body, status: refusal?.code === status.INVALID_ARGUMENT ? 400 : 200 };
}

/** Asks the server whether the act is well-formed, and shows what it would do. */
async function confirm(visit: Visit, act: KnownAct): Promise<Shown> {
  const given = await withAccountId(visit, act);
  const [checked, { subjects, refusal }] = await Promise.all([
    visit.act(act.rpc, requestOf(act, given), {
      isOnlyChecked: true,
      idempotencyKey: act.takesKey ? randomUUID() : undefined,
    }),
    namedBy(visit, allOf(act, given)),
  ]);
  const problem = checked.ok ? refusal : checked.refusal;
  if (problem !== undefined) return formPage(visit, act, given, problem);
  const step = { visit, act, subjects, given: { ...given, key: randomUUID() } };
  return {
    title: act.title,
    body: (
      <Confirm {...step} needsPasskey={false}>
        <Question act={act} />
      </Confirm>
    ),
  };
}

function Question({ act }: { readonly act: KnownAct }): VNode {
  return (
    <>
      <h1>{act.title}?</h1>
      <p class="lead">{act.words}</p>
      {act.mayPropose ? (
        <p>If the policy asks for a second person, this makes a proposal, and nothing is done yet.</p>
      ) : null}
    </>
  );
}

/** People know the user_id of an account, and not its id. */
async function withAccountId(visit: Visit, { fields }: KnownAct): Promise<Given> {
  const { form } = visit;
  if (!fields.some(({ name }) => name === "account_id")) return form;
  return { ...form, account_id: await accountIdOf(visit, (form["account_id"] ?? "").trim()) };
}

async function doAct(visit: Visit, act: KnownAct): Promise<Shown> {
  const given = visit.form;
  const { response_json = "", key = "" } = given;
  if (response_json !== "") {
    const verified = await visit.act("SessionService/VerifySession", { response_json });
    if (!verified.ok) return again(visit, act, verified.refusal, { needsPasskey: true });
  }
  const done = await visit.act(act.rpc, requestOf(act, given), {
    idempotencyKey: act.takesKey ? key : undefined,
  });
  if (done.ok) return resultPage(visit, act, done.value);
  const { refusal } = done;
  if (refusal.reason === "VERIFICATION_REQUIRED") return again(visit, act, refusal, { needsPasskey: true });
  if (isUnknown(refusal)) return again(visit, act, refusal, { needsPasskey: false, isUnknown: true });
  return formPage(visit, act, given, refusal);
}

async function again(
  visit: Visit,
  act: KnownAct,
  refusal: Refusal,
  { needsPasskey, isUnknown = false }: { readonly needsPasskey: boolean; readonly isUnknown?: boolean },
): Promise<Shown> {
  const given = visit.form;
  const { subjects } = await namedBy(visit, allOf(act, given));
  const heading = isUnknown ? "Unknown whether this was done" : `${act.title}?`;
  return {
    title: heading,
    body: (
      <Confirm {...{ visit, act, given, subjects, needsPasskey }} {...(isUnknown ? { button: "Retry" } : {})}>
        <h1>{heading}</h1>
        {refusal.reason === "VERIFICATION_REQUIRED" ? <NeedsPasskey /> : <Refused refusal={refusal} />}
        {isUnknown ? (
          <p>
            The button sends the same act again. If it was done,{" "}
            {act.shows === undefined && act.repeats === undefined ? "nothing more happens" : "it is done once more"}.
          </p>
        ) : null}
      </Confirm>
    ),
  };
}

function NeedsPasskey(): VNode {
  return (
    <div class="refused" role="status">
      <p>
        Your passkey must confirm this. You have not used it in the last five minutes.{" "}
        <code>VERIFICATION_REQUIRED</code>
      </p>
      <p class="advice">Without a passkey, ask an admin: People, “Invite to another passkey”.</p>
    </div>
  );
}

/** Says what was done, and what is so now. What waits for a second person has a page of its own. */
async function resultPage(visit: Visit, act: KnownAct, done: Told): Promise<Shown> {
  const { unchanged = false, proposal, ...fields }: Told & Fields = { ...done };
  const waits = proposal?.state === "pending";
  if (waits && !unchanged) return { redirect: within(visit, `/approvals/${proposal.id}`) };
  const given = visit.form;
  const { subjects } = await namedBy(visit, allOf(act, given));
  const shown: readonly (readonly [string, VNode])[] = [
    ...(act.shows ?? []).map((name) => [words(name), <Text>{textOf(fields[name]) || "none"}</Text>] as const),
    ...(act.result?.(fields) ?? []).map(([name, text]) => [name, <Text>{text}</Text>] as const),
  ];
  const body = (
    <>
      <h1>{unchanged ? "Already done" : "Done"}</h1>
      <p class="lead">
        {waits
          ? "What the proposal wants is so already, so nothing was done. It waits until somebody rejects it."
          : act.title}
      </p>
      <Facts facts={Object.fromEntries(shown)} />
      <Linked {...{ visit, act, given, subjects }} />
      <Filled {...{ visit, act, given, subjects }} />
    </>
  );
  return { title: act.title, body };
}
