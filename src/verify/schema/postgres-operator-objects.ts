/** The objects of the tables of operators: see `POSTGRES_OBJECTS`. */
export const POSTGRES_OPERATOR_OBJECTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  operator_acts: {
    "column actor": "text NOT NULL",
    "column hash": "bytea NOT NULL",
    "column key_sha256": "text",
    "column kind": "text NOT NULL",
    "column name": "text",
    "column operator_id": "text NOT NULL",
    "column recorded_at": "bigint NOT NULL",
    "column roles": "text",
    "column seq": "bigint NOT NULL",
    "constraint operator_acts_actor_check": "CHECK ((actor <> ''::text))",
    "constraint operator_acts_check": "CHECK (((name IS NOT NULL) = (kind = 'operator.created'::text)))",
    "constraint operator_acts_check1":
      "CHECK (((roles IS NOT NULL) = (kind = ANY (ARRAY['operator.created'::text, 'operator.roles_changed'::text]))))",
    "constraint operator_acts_check2":
      "CHECK (((key_sha256 IS NOT NULL) = (kind = ANY (ARRAY['operator.created'::text, 'operator.key_replaced'::text]))))",
    "constraint operator_acts_hash_check": "CHECK ((length(hash) = 32))",
    "constraint operator_acts_key_sha256_check": "CHECK ((length(key_sha256) = 64))",
    "constraint operator_acts_key_sha256_key": "UNIQUE (key_sha256)",
    "constraint operator_acts_kind_check":
      "CHECK ((kind = ANY (ARRAY['operator.created'::text, 'operator.roles_changed'::text, 'operator.key_replaced'::text, 'operator.revoked'::text])))",
    "constraint operator_acts_name_check": "CHECK ((name <> ''::text))",
    "constraint operator_acts_name_key": "UNIQUE (name)",
    "constraint operator_acts_operator_id_check": "CHECK ((operator_id <> ''::text))",
    "constraint operator_acts_pkey": "PRIMARY KEY (seq)",
    "constraint operator_acts_roles_check": "CHECK ((roles <> ''::text))",
    "constraint operator_acts_seq_check": "CHECK ((seq > 0))",
    "function operator_acts_refuses_change": "plpgsql: BEGIN RAISE EXCEPTION 'operator_acts is append-only'; END",
    "index operator_acts_by_operator":
      "CREATE INDEX operator_acts_by_operator ON operator_acts USING btree (operator_id, seq)",
    table: "kind r, persistence p",
    "trigger operator_acts_refuses_change":
      "CREATE TRIGGER operator_acts_refuses_change BEFORE DELETE OR UPDATE OR TRUNCATE ON operator_acts FOR EACH STATEMENT EXECUTE FUNCTION operator_acts_refuses_change()",
  },
  operator_decisions: {
    "column decided_at": "bigint NOT NULL",
    "column decided_by": "text NOT NULL",
    "column decision": "text NOT NULL",
    "column hash": "bytea NOT NULL",
    "column proposal_id": "text NOT NULL",
    "constraint operator_decisions_decided_by_check": "CHECK ((decided_by <> ''::text))",
    "constraint operator_decisions_decision_check":
      "CHECK ((decision = ANY (ARRAY['APPROVED'::text, 'REJECTED'::text])))",
    "constraint operator_decisions_hash_check": "CHECK ((length(hash) = 32))",
    "constraint operator_decisions_pkey": "PRIMARY KEY (proposal_id)",
    "constraint operator_decisions_proposal_id_fkey": "FOREIGN KEY (proposal_id) REFERENCES operator_proposals(id)",
    "function operator_decisions_refuses_change":
      "plpgsql: BEGIN RAISE EXCEPTION 'operator_decisions is append-only'; END",
    table: "kind r, persistence p",
    "trigger operator_decisions_refuses_change":
      "CREATE TRIGGER operator_decisions_refuses_change BEFORE DELETE OR UPDATE OR TRUNCATE ON operator_decisions FOR EACH STATEMENT EXECUTE FUNCTION operator_decisions_refuses_change()",
  },
  operator_proposals: {
    "column content": "text NOT NULL",
    "column expires_at": "bigint NOT NULL",
    "column hash": "bytea NOT NULL",
    "column id": "text NOT NULL",
    "column proposed_at": "bigint NOT NULL",
    "column proposed_by": "text NOT NULL",
    "constraint operator_proposals_check": "CHECK ((expires_at > proposed_at))",
    "constraint operator_proposals_content_check": "CHECK ((content <> ''::text))",
    "constraint operator_proposals_hash_check": "CHECK ((length(hash) = 32))",
    "constraint operator_proposals_pkey": "PRIMARY KEY (id)",
    "constraint operator_proposals_proposed_by_check": "CHECK ((proposed_by <> ''::text))",
    "function operator_proposals_refuses_change":
      "plpgsql: BEGIN RAISE EXCEPTION 'operator_proposals is append-only'; END",
    table: "kind r, persistence p",
    "trigger operator_proposals_refuses_change":
      "CREATE TRIGGER operator_proposals_refuses_change BEFORE DELETE OR UPDATE OR TRUNCATE ON operator_proposals FOR EACH STATEMENT EXECUTE FUNCTION operator_proposals_refuses_change()",
  },
};
