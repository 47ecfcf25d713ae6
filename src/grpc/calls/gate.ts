import type { BookOwner } from "../../operators/reads.js";
import type { AnyRefusal } from "../errors/refusal.js";
import type { RpcContract } from "../messages/contract.js";
import type { ParsedFields } from "../messages/fields.js";
import type { Caller, OperatorRules } from "./call-context.js";

/** What an rpc says about itself to the gates. */
export interface RpcRules<Input> {
  /** Whether anybody may call it. The contract must say so, too. */
  readonly isPublic?: true;
  /** Whether it is about no organization. The contract must say so, too. */
  readonly isOfHouse?: true;
  /** Whether a call only takes power away, so that its session need not be fresh. None omitted. */
  readonly takesPowerAway?: (input: Input) => boolean;
}

/** Throws if the contract and the rpc disagree on whether it needs a key, or an organization. */
export function refuseOtherContract({ name, isPublic, isOfOrganization }: RpcContract, rpc: RpcRules<never>): void {
  if (isPublic && rpc.isPublic !== true) throw new Error(`${name} needs no key, but its handler does`);
  if (!isPublic && rpc.isPublic === true) throw new Error(`${name} needs a key, but its handler takes none`);
  if (isOfOrganization !== (rpc.isPublic !== true && rpc.isOfHouse !== true))
    throw new Error(`${name} and its handler must agree on whether it is about an organization`);
}

type Parse<Request, Input, Of extends BookOwner | undefined> = (
  request: Request,
  caller: Caller<Of>,
) => ParsedFields<Input>;

/** Adds the problems that operators' requests have to those of the shape. */
export function parserUnder<Request extends object, Input, Of extends BookOwner | undefined>(
  rules: Pick<OperatorRules, "problemsIn"> | undefined,
  contract: RpcContract,
  parse: Parse<Request, Input, Of>,
): Parse<Request, Input, Of> {
  if (rules === undefined) return parse;
  return (request, caller) => {
    const problems = rules.problemsIn(contract, request);
    const parsed = parse(request, caller);
    return problems.length === 0 ? parsed : { ok: false, fields: [...problems, ...(parsed.ok ? [] : parsed.fields)] };
  };
}

/** Asks the rules whether they refuse a call whose request is valid. */
export async function refusalUnder<Input>(
  rules: OperatorRules | undefined,
  { takesPowerAway }: RpcRules<Input>,
  call: { readonly contract: RpcContract; readonly input: Input; readonly caller: Caller<BookOwner | undefined> },
): Promise<AnyRefusal | undefined> {
  return rules?.refusalOf({ ...call, takesPowerAway: takesPowerAway?.(call.input) === true });
}
