/**
 * What is only seen at a terminal: a line that is read without showing it, a table that fits the window, and the end by Ctrl-C.
 */
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { expect } from "vitest"
import { dist } from "./support/Plaza.ts"
import * as Terminal from "./support/Terminal.ts"

const echo: Terminal.Options = {
  program: ["/bin/sh", "-c", `stty -echo; printf 'word: '; read word; printf '\\n\\033[1mgot\\033[0m %s\\n' "\${#word}"`]
}

layer(Layer.empty, { excludeTestServices: true })("the terminal of the tests", (it) => {
  it.effect("shows what a person sees, with its styles, and takes keys that nobody sees", () =>
    Effect.gen(function*() {
      const terminal = yield* Terminal.open([], echo)
      yield* terminal.shows(/word:/)
      yield* terminal.type("secret\r")
      expect(yield* terminal.ended).toEqual({ code: 0, screen: "word:\n{bold}got{} 6\n" })
      expect(yield* terminal.raw).not.toContain("secret")
    }))

  it.effect("has colours, unless NO_COLOR has a value", () =>
    Effect.gen(function*() {
      const list = ["--sandbox", "posts", "list", "--limit", "1"]
      for (const env of [{}, { NO_COLOR: "" }, { NO_COLOR: " " }]) {
        expect((yield* Terminal.run(list, { env })).screen).toMatch(/^\{bold\}id/)
      }
      expect((yield* Terminal.run(list, { env: { NO_COLOR: "1" } })).screen).toMatch(/^id/)
    }))

  it.effect("may report no width, as in some containers: a table then has 80 columns", () =>
    Effect.gen(function*() {
      const withoutWidth = (argv: ReadonlyArray<string>) =>
        Terminal.open(argv, {
          columns: 200,
          program: ["/bin/sh", "-c", `stty cols 0; exec "$@"`, "sh", process.execPath, `${dist}/plaza.cjs`]
        })
      const { ended } = yield* withoutWidth(["--sandbox", "posts", "list", "--limit", "1"])
      expect((yield* ended).screen).toContain("Thank you for five hundred")
    }))

  it.effect("has records in place of a table whose columns would be too narrow to read", () =>
    Effect.gen(function*() {
      const at = (columns: number) => Terminal.run(["--sandbox", "posts", "list", "-n", "1"], { columns })
      expect((yield* at(80)).screen.split("\n")[1]).toMatch(/^\d+ {2}\S+Z {6}1 {2}Thank you for five hundred order…$/)
      expect((yield* at(40)).screen).toMatch(
        /^\{bold\}id {5}\{\} {2}\d+\n\{bold\}created\{\} {2}\S+Z\n\{bold\}media {2}\{\} {2}1\n\{bold\}text {3}\{\} {2}Thank you for five hundred\n {9}orders!\n$/
      )
    }))
})
