import * as Command from "@effect/cli/Command"
import * as ValidationError from "@effect/cli/ValidationError"
import { NodeContext } from "@effect/platform-node"
import { Effect, Option, Ref, type Types } from "effect"

/** Parses a command line that has the options of a group, and returns the group's settings. */
export const parse = <const Group extends Command.Command.Config, A, E, R>(
  group: Group,
  argv: ReadonlyArray<string>,
  resolve: (given: Types.Simplify<Command.Command.ParseConfig<Group>>) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const result = yield* Ref.make(Option.none<A>())
    const command = Command.make("test", group,
      (given) => Effect.flatMap(resolve(given), (settings) => Ref.set(result, Option.some(settings))))
    yield* Command.run(command, { name: "test", version: "0" })(["node", "test", ...argv])
    return yield* Effect.map(Ref.get(result), Option.getOrThrow)
  }).pipe(Effect.catchIf(ValidationError.isValidationError, Effect.die), Effect.provide(NodeContext.layer))
