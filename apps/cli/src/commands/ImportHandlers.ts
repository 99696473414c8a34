/** What `plaza stock import` and `plaza orders import` do. */
import * as Import from "../import/Import.ts"
import { kinds } from "../import/ImportRow.ts"
import * as Client from "./Client.ts"

export const stock = (options: Import.Options) => Client.provideWithBar(Import.run(kinds.stock, options))
export const orders = (options: Import.Options) => Client.provideWithBar(Import.run(kinds.orders, options))
