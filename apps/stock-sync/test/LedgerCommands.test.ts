/** The commands that messages name select the ledger of the command that prints them. */
import { expect, it } from "vitest"
import { ofFleet, ofStore } from "../src/ledger/LedgerCommands.ts"

it.each([
  [["once"], "plaza-stock-sync confirm 3"],
  [["status", "--config", "sync.toml"], "plaza-stock-sync confirm 3 --config sync.toml"],
  [["--ledger=my shop.sqlite", "once", "--json"], "plaza-stock-sync confirm 3 '--ledger=my shop.sqlite'"],
  [["once", "--ledger", "a.sqlite", "--config=b.toml"], "plaza-stock-sync confirm 3 --ledger a.sqlite '--config=b.toml'"],
  [["once", "--ledger", "postgres://shop:secret@host/shop", "--config", "b.toml"], "plaza-stock-sync confirm 3 --config b.toml"]
])("after %j: %s", (argv, advised) => {
  expect(ofStore(argv).confirm(3)).toBe(advised)
})

it.each([
  ["MUG-1", "plaza-stock-sync retry --ledger a.sqlite MUG-1", "plaza-stock-sync fleet accounts retry shop MUG-1"],
  ["a cup", "plaza-stock-sync retry --ledger a.sqlite 'a cup'", "plaza-stock-sync fleet accounts retry shop 'a cup'"],
  ["--all", "plaza-stock-sync retry --ledger a.sqlite -- --all", "plaza-stock-sync fleet accounts retry shop -- --all"]
])("retries the product %s, and nothing else", (product, ofOne, inFleet) => {
  expect(ofStore(["run", "--ledger", "a.sqlite"]).retryProduct(product)).toBe(ofOne)
  expect(ofFleet("shop").retryProduct(product)).toBe(inFleet)
})

it("ends the options once, before an account and a product that begin with a dash", () => {
  expect(ofFleet("-shop").retryProduct("-1")).toBe("plaza-stock-sync fleet accounts retry -- -shop -1")
})
