import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, FileSystem, Option, Redacted, Stream } from "effect"
import * as Open from "../src/source/Open.ts"
import * as SftpServer from "./support/hostileSftp.ts"
import { serving } from "./support/serving.ts"
import { recordSpans } from "./support/spans.ts"

const options = { idColumn: "productId", stockColumn: "stock", settle: Duration.zero, timeout: Duration.seconds(1) }

describe("a source", () => {
  it.effect("has a span for opening it and one for reading its rows, which name the file", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const path = yield* files.makeTempFileScoped({ suffix: ".csv" })
      yield* files.writeFileString(path, "productId,stock\nA,1\n")
      const { spans, tracer } = yield* recordSpans
      const read = Effect.flatMap(Open.make({ ...options, source: path }), (source) => source.open(Option.none())).pipe(
        Effect.map(Option.getOrThrow),
        Effect.flatMap(({ rows }) => Stream.runDrain(rows))
      )
      yield* Effect.withTracer(read, tracer)
      expect(spans.map(({ attributes, name }) => [name, attributes.get("file.path")])).toEqual([
        ["Source.open", path],
        ["Source.rows", path]
      ])
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("at an address has spans without its parameters, which may be secret", () =>
    Effect.gen(function*() {
      const { asked, origin } = yield* serving((_, response) =>
        void response.setHeader("content-type", "text/csv").end("productId,stock\nA,1\n")
      )
      const { spans, tracer } = yield* recordSpans
      const read = Effect.flatMap(
        Open.make({ ...options, timeout: Duration.hours(1), source: `${origin}/stock.csv?api_key=hidden` }),
        (source) => source.open(Option.none())
      ).pipe(Effect.map(Option.getOrThrow), Effect.flatMap(({ rows }) => Stream.runDrain(rows)))
      yield* Effect.withTracer(Effect.scoped(read), tracer)
      expect(asked).toEqual(["/stock.csv?api_key=hidden"])
      expect(spans.map(({ name }) => name)).toEqual(["Source.open", "Source.rows"])
      expect(JSON.stringify(spans.map(({ attributes }) => [...attributes]))).not.toContain("hidden")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("on a server has spans that name its address, without the user", () =>
    Effect.gen(function*() {
      const { fingerprint, port } = yield* SftpServer.scoped({ file: () => ({ content: Buffer.from("productId,stock\nA,1\n"), mtime: 1 }) })
      const { spans, tracer } = yield* recordSpans
      const server = {
        sftp: { hostKeys: [fingerprint], keyFile: undefined, knownHosts: undefined },
        remoteSecrets: { sftp: { password: Redacted.make("secret") } }
      }
      const read = Effect.flatMap(Open.make({ ...options, ...server, source: `sftp://shop@127.0.0.1:${port}/stock.csv` }),
        (source) => source.open(Option.none())).pipe(
          Effect.map(Option.getOrThrow),
          Effect.flatMap(({ rows }) => Stream.runDrain(rows))
        )
      yield* Effect.withTracer(read, tracer)
      const address = `sftp://127.0.0.1:${port}/stock.csv`
      expect(spans.map(({ attributes, name }) => [name, attributes.get("url.full")])).toEqual([["Source.open", address], [
        "Source.rows",
        address
      ]])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})
