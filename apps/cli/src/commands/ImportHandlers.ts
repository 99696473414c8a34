/** What `plaza stock import` and `plaza orders import` do. */
import type * as Format from "@plaza/tabular/Format"
import * as Option from "effect/Option"
import * as Import from "../import/Import.ts"
import { kinds } from "../import/ImportRow.ts"
import * as Client from "./Client.ts"

interface Input {
  readonly file: string
  readonly dryRun: boolean
  readonly again: boolean
  readonly report: Option.Option<string>
  readonly concurrency: number
  readonly format: Option.Option<Format.Format>
  readonly delimiter: Option.Option<string>
}

const importOf = (kind: keyof typeof kinds) => ({ delimiter, format, report, ...input }: Input) =>
  Client.provideWithBar(Import.run({
    ...input,
    kind: kinds[kind],
    report: Option.getOrUndefined(report),
    format: Option.getOrUndefined(format),
    delimiter: Option.getOrUndefined(delimiter)
  }))

export const stock = importOf("stock")
export const orders = importOf("orders")
