/** Parses a command line that has the options of a group, and returns the group's settings. */
import { NodeServices } from "@effect/platform-node"
import { Effect, Option, Ref } from "effect"
import { Command } from "effect/cli"

export const parse = <const Group extends Command.Command.Config, A, E, R>(
  group: Group,
  argv: ReadonlyArray<string>,
  resolve: (given: Command.Command.Config.Infer<Group>) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const result = yield* Ref.make(Option.none<A>())
    const command = Command.make("test", group,
      (given) => Effect.flatMap(resolve(given), (settings) => Ref.set(result, Option.some(settings))))
    yield* Command.runWith(command, { version: "0" })(argv)
    return yield* Effect.map(Ref.get(result), Option.getOrThrow)
  }).pipe(Effect.provide(NodeServices.layer))
