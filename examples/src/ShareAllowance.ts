/**
 * One allowance for all processes that use the same key and the same SQLite file.
 */
import { SqliteClient } from "@effect/sql-sqlite-node"
import { Plaza, RateLimit } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { fromOptions, Settings } from "@plaza/client/Settings"
import { Layer } from "effect"

export const sharing = (options: Plaza.Options, filename: string) =>
  Plaza.layerWithoutRateLimit.pipe(
    Layer.provideMerge(RateLimit.layerSql({ apiKey: options.apiKey })),
    Layer.provide(Layer.effect(Settings, fromOptions(options))),
    Layer.provide(SqliteClient.layer({ filename })),
    Layer.provide(NodeClient.layer)
  )
