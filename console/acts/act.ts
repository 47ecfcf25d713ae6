import type { Fields } from "../upstream/contract.js";
import type { RpcName } from "../upstream/upstream.js";
import type { Change } from "./proposal-words.js";

/** What a link or a form gives to an act, by the names of the fields. */
export type Given = Readonly<Record<string, string>>;

/** An act. Its fields, its words and its roles are those of its rpc in the contract. */
export interface Act {
  /** Its name in the path: "freeze". */
  readonly name: string;
  readonly rpc: RpcName;
  /** What the button and the heading say. */
  readonly title: string;
  /** The field that names what the act is about. The link to the act gives it. */
  readonly subject?: string;
  /** The field of the form whose subject changes, if that is not `subject`. It may be new. */
  readonly about?: string;
  /** Whether nothing brings back what was before. */
  readonly isFinal?: true;
  /** Other fields that the link gives. */
  readonly given?: readonly string[];
  /** Fields of the rpc that the console leaves empty. */
  readonly without?: readonly string[];
  /** Fields of the rpc whose values make it this act, such as the mode of payouts. */
  readonly fixed?: Fields;
  /** Its roles, where its fixed values need fewer than the rpc has. */
  readonly roles?: readonly string[];
  /**
   * A message of the request whose fields the form has, too: "completed" of ResolveTransaction. Of
   * a list it is the only item: "changes" of SetLimits.
   */
  readonly member?: string;
  /** Fields of the response that the result shows. Nothing else has them: a reload asks again. */
  readonly shows?: readonly string[];
  /** What came of it, from the response. */
  readonly result?: (response: Fields) => readonly (readonly [name: string, text: string])[];
  /** Whether each repeat does it once more. */
  readonly repeats?: true;
  readonly changes?: (before: Fields, given: Given) => readonly Change[];
}
