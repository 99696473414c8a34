/**
 * The tables of all ledgers in the fleet's schema, and what the database itself does with them: it checks the epoch at the end of each
 * transaction, numbers the history of each account, and removes the ledger of a removed account.
 */
import * as Tables from "../../ledger/Tables.ts"
import { schema } from "../FleetDatabase.ts"

/** The SQLSTATE of a transaction whose epoch is old. */
export const takenOver = "PZ001"

/** The function that checks the epoch of an account. An epoch of null only requires that the account exists. */
export const fence = "ledger_fence"

// The lock keeps the epoch until the transaction has committed. It is taken last, so that a long transaction of an earlier runner does
// not delay a takeover, and only by transactions that wrote something, because it is a write itself. A removal holds the account's row
// while it deletes products: the timeout is shorter than that of the deadlock detection, so the removal wins.
const fenceFunction = `CREATE FUNCTION ${fence}(BIGINT, BIGINT) RETURNS void LANGUAGE plpgsql SET lock_timeout = '900ms' AS $fence$
BEGIN
  IF pg_current_xact_id_if_assigned() IS NULL THEN
    PERFORM 1 FROM ${schema}.fleet_account WHERE number = $1 AND ($2 IS NULL OR epoch = $2);
  ELSE
    PERFORM 1 FROM ${schema}.fleet_account WHERE number = $1 AND ($2 IS NULL OR epoch = $2) FOR SHARE;
  END IF;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the epoch is old' USING ERRCODE = '${takenOver}';
  END IF;
END
$fence$`

// Consecutive numbers in each account let a ledger limit its history by a comparison. Each row of a statement sees those before it.
const historyNumbers = [
  `CREATE FUNCTION ledger_history_number() RETURNS trigger LANGUAGE plpgsql AS $number$
BEGIN
  NEW.n := coalesce((SELECT max(n) FROM ${schema}.history), 0) + 1;
  RETURN NEW;
END
$number$`,
  "CREATE TRIGGER ledger_history_number BEFORE INSERT ON ledger_history FOR EACH ROW EXECUTE FUNCTION ledger_history_number()"
]

// A foreign key would look up the account for each inserted row. The epoch check prevents rows of removed accounts as well.
const removal = [
  `CREATE FUNCTION ledger_remove() RETURNS trigger LANGUAGE plpgsql AS $remove$
BEGIN
${Tables.sharedNames.map(({ table }) => `  DELETE FROM ${schema}.${table} WHERE account = OLD.number;`).join("\n")}
  RETURN NULL;
END
$remove$`,
  "CREATE TRIGGER ledger_remove AFTER DELETE ON fleet_account FOR EACH ROW EXECUTE FUNCTION ledger_remove()"
]

// The defaults wait until a fifth of a table has changed, which takes long for the ledgers of thousands of accounts.
const maintenance = [
  "ALTER TABLE ledger_product SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)",
  "ALTER TABLE ledger_history SET (autovacuum_vacuum_scale_factor = 0.05)",
  "ALTER TABLE ledger_request SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)"
]

export const create: ReadonlyArray<string> = [
  // Shorter than the id in each row and index. An account that is removed and added again has another number, and so an empty ledger.
  "ALTER TABLE fleet_account ADD COLUMN number BIGINT GENERATED ALWAYS AS IDENTITY",
  "CREATE UNIQUE INDEX fleet_account_number ON fleet_account (number)",
  ...Tables.createShared,
  // The digest of the last applied snapshot and what it changed, so that a snapshot with the same rows needs no comparison.
  "ALTER TABLE ledger_snapshot ADD COLUMN digest TEXT, ADD COLUMN result TEXT",
  Tables.createView({ table: "ledger_snapshot", view: "snapshot" }),
  fenceFunction,
  ...historyNumbers,
  ...removal,
  ...maintenance
]
