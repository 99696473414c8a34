/** The source of the commands that read it once. A wait for it is a note, because it can take a minute. */
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Open from "../source/Open.ts"
import { Source } from "../source/Source.ts"

export const layer = (options: Open.SourceOptions) =>
  Layer.effect(
    Source,
    Effect.flatMap(Output, (output) =>
      Open.makeWaiting(options, ({ message }) =>
        // With --json, standard error has one object and nothing else.
        output.json ? Effect.void : output.note(`waiting for the source: ${message}`)))
  )
