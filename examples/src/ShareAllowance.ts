/** Shares one rate limit between all processes that use the same key and the same SQLite file. */
import { Plaza } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as RateLimitSql from "@plaza/client/RateLimitSql"
import * as Sqlite from "@plaza/client/sqlite"
import { Layer } from "effect"

export const sharing = (options: Plaza.Options, filename: string) =>
  Plaza.layerWithoutRateLimit(options).pipe(
    Layer.provideMerge(RateLimitSql.layer({ apiKey: options.apiKey })),
    Layer.provide(Sqlite.layer({ filename })),
    Layer.provide(NodeClient.layer)
  )
