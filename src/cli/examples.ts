import type { Command } from "commander";

/**
 * Examples of the commands that are no row of `administration/table.ts`, without "kesc". The help
 * of a command shows them, and test/lint runs their arguments through the parsers.
 */
const EXAMPLES = `
serve --demo
server
gateway
console
migrate
migrate --cells 4 --grant-to kesc_server
doctor --backups /backups
top
top --once --json
backup /backups/kesc-2026-11-22.db
restore /backups/kesc-2026-11-22.db
restore --in-place --heads /backups/heads-2026-11-22 --yes
confirm-restore --heads /backups/heads-2026-11-22
confirm-restore --yes 3f9c0a7d21b4
purge
master-key rotate
master-key prune --yes
operator new-key
rail register-pull --org "Acme" --rail mpesa --contact 0712345678
account get acc_01jd2r6p5vf8ksw3xhb1z7q4ye
account list phone_number=0712345678
account vacuum
reconcile mpesa statement.csv --org "Acme"
reconcile mpesa --pull --apply --org "Acme"
reconcile --place "KCB 1234" statement.sta --org "Acme"
reconcile --place "KCB 1234" november.csv --columns "date=Value Date,debit=Debit,credit=Credit,text=Description" --dates day-first --reference "FT[0-9A-Z]+" --org "Acme"
verify
verify --metrics-file /var/lib/node_exporter/kesc_verify.prom
verify --heads heads.txt --write-heads heads.txt
book activate "Acme" --yes
book accept-clock "Acme" --yes
book export "Acme" book.ndjson --yes
book import book.ndjson --cell 2
book release "Acme" --arrived CODE --to "PostgreSQL in Nairobi"
book resume "Acme"
book discard "Acme" --cell 0 --yes
book receive --amount 100.00 --receipt RKTQDM7W03 --key receive-RKTQDM7W03 --org "Acme" --note "in the statement" --yes
book allocate --amount 60.00 --account acc_01jd2r6p5vf8ksw3xhb1z7q4ye --key allocate-RKTQDM7W03 --org "Acme" --note "the user wrote" --yes
book return --amount 40.00 --receipt RKTQDM7W04 --key return-RKTQDM7W03 --org "Acme" --note "nobody asked for it" --yes
seal rotate
seal publish /srv/www/seals
seal clear org_01jd2r6p5vf8ksw3xhb1z7q4ye --by "Amina" --reason "restored by hand; verify found nothing"
export statement "Acme" --account acc_01jd2r6p5vf8ksw3xhb1z7q4ye --from 2026-11-01 --to 2026-11-30 --output statement.csv
close "Acme" --month 2026-10 --statement mpesa=statement.csv --statement "KCB 1234=october.sta" --output packs
close --check month-org_01jd2r6p5vf8ksw3xhb1z7q4ye-2026-10.zip
export journal "Acme" --from 2026-11-01 --to 2026-11-30 --output journal.csv
export ledger "Acme" --from 2026-11-01 --to 2026-11-30 --format ndjson
call
call Mint '{"account_id": "acc_01jd2r6p5vf8ksw3xhb1z7q4ye", "amount": "10.00", "reference": "deposit-3"}'
call grpc.health.v1.Health/Check
transaction get txn_01jd2r6p5vf8ksw3xhb1z7q4ye
transaction list statuses=pending min_amount=1000 --limit 20
import payroll.csv --rejects rejects.csv
tail
tail --after 0 --type transaction.completed --type transaction.failed --json
tail --forward-to http://127.0.0.1:3000/hook
sandbox advance txn_01jd2r6p5vf8ksw3xhb1z7q4ye
openapi
daraja
daraja --port 9000 --standing-clock
`;

const LINES = EXAMPLES.trim().split("\n");

const GIVEN = new WeakMap<Command, readonly string[]>();

/** Gives a command examples of its own, without "kesc". */
export function giveExamples(command: Command, examples: readonly string[]): void {
  GIVEN.set(command, examples);
}

/** The examples of a command, without "kesc". */
export function examplesOf(command: Command): readonly string[] {
  const path = pathOf(command);
  return GIVEN.get(command) ?? LINES.filter((line) => line === path || line.startsWith(`${path} `));
}

/** The name of a command with those before it, such as "rail set". */
export function pathOf(command: Command): string {
  const names: string[] = [];
  for (let each = command; each.parent !== null; each = each.parent) names.unshift(each.name());
  return names.join(" ");
}
