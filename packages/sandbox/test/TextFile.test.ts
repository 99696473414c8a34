/** Files of the sandbox may be pipes: they are read to their end, and a sandbox that waits for one can be interrupted. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Latitude, Sandbox } from "@plaza/sandbox"
import { encodings } from "@plaza/testing/Encodings"
import { Effect, Fiber, FileSystem } from "effect"
import { execFileSync } from "node:child_process"
import * as TextFile from "../src/TextFile.ts"
import { layerInProcess } from "./support.ts"

/** A new pipe. */
const pipe = Effect.gen(function*() {
  const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped({ prefix: "plaza-pipe-" })
  execFileSync("mkfifo", [`${folder}/pipe`])
  return `${folder}/pipe`
})

/** The state of a sandbox with options that name a pipe with this text. */
const stateWith = (text: string, optionsOf: (path: string) => Sandbox.Options) =>
  Effect.gen(function*() {
    const path = yield* pipe
    const reading = yield* Effect.forkChild(
      Effect.provide(
        Effect.flatMap(Sandbox.Sandbox, ({ latitude, state }) => Effect.all({ state, latitude })),
        layerInProcess(optionsOf(path))
      )
    )
    yield* (yield* FileSystem.FileSystem).writeFileString(path, text)
    return yield* Fiber.join(reading)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("a file", () => {
  for (const [name, encode] of encodings) {
    it.effect(`of fixtures or assumptions is read in ${name}`, () =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const folder = yield* files.makeTempDirectoryScoped()
        yield* files.writeFile(`${folder}/shop.yaml`, encode("products:\n  - { id: MÜTZE, stock: 7 }\n"))
        yield* files.writeFile(`${folder}/a.json`, encode("{\n  \"latitude\": { \"listOrder\": \"oldestFirst\" }\n}\n"))
        const { latitude, state } = yield* Effect.provide(
          Effect.flatMap(Sandbox.Sandbox, ({ latitude, state }) => Effect.all({ state, latitude })),
          layerInProcess({ fixtures: `${folder}/shop.yaml`, assumptionsFile: `${folder}/a.json` })
        )
        expect(state.products).toContainEqual(expect.objectContaining({ id: "MÜTZE", stock: 7 }))
        expect(latitude).toEqual({ ...Latitude.defaults, listOrder: "oldestFirst" })
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
  }
})

describe("a pipe", () => {
  it.effect("has fixtures as JSON or YAML, by its content", () =>
    Effect.gen(function*() {
      const product = { id: "MARTINI", stock: 7 }
      for (const text of [`\uFEFF ${JSON.stringify({ products: [product] })}`, "products:\n  - { id: MARTINI, stock: 7 }\n"]) {
        const { state } = yield* stateWith(text, (fixtures) => ({ fixtures }))
        expect(state.products).toContainEqual(expect.objectContaining(product))
      }
    }))

  it.effect("has assumptions", () =>
    Effect.gen(function*() {
      const { latitude } = yield* stateWith(`{"latitude":{"listOrder":"oldestFirst"}}`, (assumptionsFile) => ({ assumptionsFile }))
      expect(latitude).toEqual({ ...Latitude.defaults, listOrder: "oldestFirst" })
    }))

  it.effect("that nobody writes is left when the sandbox is interrupted", () =>
    Effect.gen(function*() {
      const pipes = () => process.getActiveResourcesInfo().filter((name) => name === "PipeWrap").length
      const before = pipes()
      const reading = yield* Effect.forkChild(TextFile.read("the fixtures", yield* pipe))
      yield* Effect.repeat(Effect.yieldNow, { until: () => pipes() > before })
      yield* Fiber.interrupt(reading)
      yield* Effect.repeat(Effect.yieldNow, { until: () => pipes() === before })
    }).pipe(Effect.provide(NodeServices.layer)))
})
