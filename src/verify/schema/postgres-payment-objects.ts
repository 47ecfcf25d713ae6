/** The part of POSTGRES_OBJECTS about payments and what operators proposed. */
export const PAYMENT_OBJECTS = {
  payments: {
    "column advances": "bigint NOT NULL DEFAULT 0",
    "column begun_at": "bigint",
    "column book": "bigint NOT NULL",
    "column checks": "bigint NOT NULL DEFAULT 0",
    "column due_at": "bigint NOT NULL",
    "column last_code": "text",
    "column masked_phone": "text NOT NULL",
    "column phone_number": "bytea",
    "column rail_account_id": "text NOT NULL",
    "column rail_reference": "text",
    "column sends": "bigint NOT NULL",
    "column state": "text NOT NULL",
    "column transaction_id": "text NOT NULL",
    "column updated_at": "bigint NOT NULL",
    "constraint payments_book_fkey": "FOREIGN KEY (book) REFERENCES book_keys(book)",
    "constraint payments_check": "CHECK (((state = 'ENDED'::text) = (phone_number IS NULL)))",
    "constraint payments_check1":
      "CHECK (((state <> ALL (ARRAY['SENDING'::text, 'ACCEPTED'::text])) OR (begun_at IS NOT NULL)))",
    "constraint payments_check2": "CHECK (((begun_at IS NULL) = (sends = 0)))",
    "constraint payments_pkey": "PRIMARY KEY (transaction_id)",
    "constraint payments_state_check":
      "CHECK ((state = ANY (ARRAY['READY'::text, 'SENDING'::text, 'ACCEPTED'::text, 'ENDED'::text])))",
    "constraint payments_transaction_id_fkey": "FOREIGN KEY (transaction_id) REFERENCES transactions(id)",
    "index payments_due":
      "CREATE INDEX payments_due ON payments USING btree (rail_account_id, due_at) WHERE (state <> 'ENDED'::text)",
    table: "kind r, persistence p",
  },
  proposals: {
    "column book": "bigint NOT NULL",
    "column content": "text NOT NULL",
    "column done_at": "bigint",
    "column person": "text NOT NULL",
    "column proposed_at": "bigint NOT NULL",
    "column subject": "text NOT NULL",
    "constraint proposals_book_fkey": "FOREIGN KEY (book) REFERENCES book_keys(book)",
    "constraint proposals_check": "CHECK ((done_at >= proposed_at))",
    "constraint proposals_person_check": "CHECK ((person <> ''::text))",
    "constraint proposals_pkey": "PRIMARY KEY (subject)",
    table: "kind r, persistence p",
  },
} as const;
