/**
 * Examples of every command, without "kesc". The help of a command and docs/commands.md show them,
 * and test/lint runs their arguments through the parsers.
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
purge
master-key rotate
master-key prune --yes
org create --name "Acme"
org create --name "Acme tests" --sandbox
org list
org suspend "Acme" --note "case 17" --yes
org resume "Acme" --note "case 17 closed"
org require-receipts "Acme" --note "deposits begin"
org require-receipts "Acme" --end --note "deposits have ended"
org journal "Acme" --own
org find "Acme" 0712345678
org overview "Acme"
org attention "Acme" --limit 20
org endpoints "Acme"
key create --org "Acme" --name "payroll" --scopes transactions:write,accounts:read --expires-in 90d
key create --org "Acme" --certificate URI:spiffe://example.com/billing --scopes accounts:read --expires-in 365d
key list --org "Acme"
key revoke key_01jd2r6p5vf8ksw3xhb1z7q4ye
operator new-key
operator create "Amina Odhiambo" --role admin
operator create "Brian Mwangi" --role approver --on-database --note "the second person"
operator create "Dora Achieng" --role finance --invite
operator list
operator set-roles "Carol Wanjiru" --role support,approver
operator replace-key "Carol Wanjiru" --key-sha256 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
operator add-passkey "Carol Wanjiru"
operator remove-passkey "Carol Wanjiru" 4k8m0xq2v7zt
operator sessions
operator end-session ses_01jd2r6p5vf8ksw3xhb1z7q4ye
operator revoke "Carol Wanjiru"
operator acts --limit 20
operator whoami
operator code
proposal list
proposal show prp_01jd2r6p5vf8ksw3xhb1z7q4ye
proposal approve prp_01jd2r6p5vf8ksw3xhb1z7q4ye
proposal reject prp_01jd2r6p5vf8ksw3xhb1z7q4ye
limits show "Acme"
limits set "Acme" --tier full --mint-per-day 300000.00 --redeem-per-day 300000.00 --note "full KYC"
limits remove "Acme" --tier full --note "the tier is not used"
rail set sandbox --org "Acme tests" --default --note "the first account"
rail default mpesa --org "Acme" --note "the tests have passed"
rail default direct --org "Acme" --note "M-Pesa is down for long"
rail register-deposits mpesa --org "Acme" --contact 0712345678 --note "the paybill is live"
rail set mpesa --org "Acme" --settings mpesa.json --credentials secrets.json --credentials-expire 2027-01-31 --note "the first account"
rail list
rail status --org "Acme"
rail register-pull --org "Acme" --rail mpesa --contact 0712345678
rail open --org "Acme" --rail mpesa --note "M-Pesa is well again"
rail close --org "Acme" --rail mpesa --note "M-Pesa reports 8006"
rail auto --org "Acme" --rail mpesa --note "as always"
account get acc_01jd2r6p5vf8ksw3xhb1z7q4ye
account list phone_number=0712345678
account freeze acc_01jd2r6p5vf8ksw3xhb1z7q4ye --reason fraud --org "Acme" --note "case 17"
account unfreeze acc_01jd2r6p5vf8ksw3xhb1z7q4ye --freeze frz_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --note "case 17 is closed"
account reveal acc_01jd2r6p5vf8ksw3xhb1z7q4ye --reason customer_called --org "Acme" --note "case 17"
account update acc_01jd2r6p5vf8ksw3xhb1z7q4ye --phone-number 0712345679 --org "Acme"
account close acc_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --note "the user left" --yes
account tier acc_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --tier full --note "passport checked"
account export acc_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --json
account erase acc_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --note "request 17" --yes
account vacuum
transaction resolve txn_01jd2r6p5vf8ksw3xhb1z7q4ye --outcome completed --receipt RKTQDM7W01 --org "Acme" --note "in the statement" --yes
transaction clear-flag txn_01jd2r6p5vf8ksw3xhb1z7q4ye --flag report_differs --org "Acme" --note "the statement agrees"
transaction cancel txn_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --note "the user called"
transaction reverse txn_01jd2r6p5vf8ksw3xhb1z7q4ye --receipt kcb-1234:FT26330XK2 --org "Acme" --note "paid twice" --yes
deposit list --org "Acme" --status unallocated
deposit list --org "Acme" --receipt RKTQDM7W10
deposit show dep_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme"
deposit record --amount 500.00 --receipt kcb-1234:FT26330XK2 --org "Acme" --note "in the bank's statement" --yes
deposit assign dep_01jd2r6p5vf8ksw3xhb1z7q4ye --account acc_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --note "the user sent the SMS" --yes
deposit unassign dep_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --note "it was the other Wanjiku" --yes
deposit return dep_01jd2r6p5vf8ksw3xhb1z7q4ye --receipt RKTQDM7W11 --org "Acme" --note "paid by mistake" --yes
deposit reverse dep_01jd2r6p5vf8ksw3xhb1z7q4ye --receipt RKTQDM7W12 --org "Acme" --note "M-Pesa reversed it" --yes
reconcile mpesa statement.csv --org "Acme"
reconcile mpesa --pull --apply --org "Acme"
verify
verify --metrics-file /var/lib/node_exporter/kesc_verify.prom
verify --heads heads.txt --write-heads heads.txt
book list
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
book paid --amount 30.00 --receipt RKTQDM7W06 --key paid-RKTQDM7W06 --org "Acme" --note "sent from the portal" --yes
book cover --amount 20.00 --key cover-RKTQDM7W06 --org "Acme" --note "from the bank" --yes
book recover --amount 10.00 --account acc_01jd2r6p5vf8ksw3xhb1z7q4ye --key recover-RKTQDM7W06 --org "Acme" --note "the user agrees" --yes
book adjust --movement RKTQDM7W09 --direction out --amount 10.00 --key adjust-RKTQDM7W09 --org "Acme" --note "in the statement" --yes
book fund --direction in --amount 500.00 --receipt RKTQDM7W13 --key fund-RKTQDM7W13 --org "Acme" --note "for the charges of November" --yes
book transfer --direction out --amount 500.00 --receipt RKTQDM7W08 --key transfer-RKTQDM7W08 --org "Acme" --note "to the bank" --yes
seal rotate
seal list
seal publish /srv/www/seals
seal clear org_01jd2r6p5vf8ksw3xhb1z7q4ye --by "Amina" --reason "restored by hand; verify found nothing"
export statement "Acme" --account acc_01jd2r6p5vf8ksw3xhb1z7q4ye --from 2026-11-01 --to 2026-11-30 --output statement.csv
export journal "Acme" --from 2026-11-01 --to 2026-11-30 --output journal.csv
export ledger "Acme" --from 2026-11-01 --to 2026-11-30 --format ndjson
supply
supply --org "Acme" --json
reserve set-rules "Acme" --file examples/reserve/rules.json --note "the draft of 2026"
reserve record "Acme" --place "Trust account" --amount 1000000.00 --as-of 2025-12-31 --evidence "statement 12/2025"
reserve list "Acme"
call
call Mint '{"account_id": "acc_01jd2r6p5vf8ksw3xhb1z7q4ye", "amount": "10.00", "reference": "deposit-3"}'
call grpc.health.v1.Health/Check
transaction get txn_01jd2r6p5vf8ksw3xhb1z7q4ye
transaction list statuses=pending min_amount=1000 --limit 20
import payroll.csv --rejects rejects.csv
tail
tail --after 0 --type transaction.completed --type transaction.failed --json
sandbox advance txn_01jd2r6p5vf8ksw3xhb1z7q4ye
openapi
daraja
daraja --port 9000 --standing-clock
`;

const LINES = EXAMPLES.trim().split("\n");

/** The examples of a command, such as "rail set". */
export function examplesOf(command: string): readonly string[] {
  return LINES.filter((line) => line === command || line.startsWith(`${command} `));
}
