/** The commands that messages name select the ledger of the command that prints them. */
import { expect, it } from "vitest"
import { ofStore } from "../src/ledger/LedgerCommands.ts"

it.each([
  [["once"], "plaza-stock-sync confirm 3"],
  [["status", "--config", "sync.toml"], "plaza-stock-sync confirm 3 --config sync.toml"],
  [["--ledger=my shop.sqlite", "once", "--json"], "plaza-stock-sync confirm 3 '--ledger=my shop.sqlite'"],
  [["once", "--ledger", "a.sqlite", "--config=b.toml"], "plaza-stock-sync confirm 3 --ledger a.sqlite '--config=b.toml'"],
  [["once", "--ledger", "postgres://shop:secret@host/shop", "--config", "b.toml"], "plaza-stock-sync confirm 3 --config b.toml"]
])("after %j: %s", (argv, advised) => {
  expect(ofStore(argv).confirm(3)).toBe(advised)
})
