/** A process that reads a database without an end, for tests that end it. Its argument has the address and the query. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Duration, Effect, Option, Schema, Stream } from "effect"
import { argv } from "node:process"
import * as Open from "../../src/source/Open.ts"

const Argument = Schema.fromJsonString(Schema.Struct({ source: Schema.String, query: Schema.String }))

const program = Effect.gen(function*() {
  const { query, source } = yield* Schema.decodeUnknownEffect(Argument)(argv[2])
  const { open } = yield* Open.make({ source, query, timeout: Duration.minutes(10), idColumn: "product_id", stockColumn: "stock" })
  const snapshot = yield* open(Option.none())
  yield* Stream.runDrain(Option.getOrThrow(snapshot).rows)
})

NodeRuntime.runMain(program.pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
