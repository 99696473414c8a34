/** Takes the picture of the console that README.md shows: `node --conditions=@plaza/source examples/test/support/Picture.ts [FILE]`. Requires Chromium. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { startSandbox } from "@plaza/sandbox/promise"
import { createPlaza } from "@plaza/sdk"
import * as Browser from "@plaza/testing/Browser"
import { Console, Effect, FileSystem, Layer } from "effect"

const file = process.argv[2] ?? "docs/console.png"

const take = Effect.gen(function*() {
  const sandbox = yield* Effect.acquireRelease(
    Effect.promise(() => startSandbox({ port: 0 })),
    (sandbox) => Effect.promise(() => sandbox.close())
  )
  const plaza = createPlaza({ apiKey: sandbox.apiKey, baseUrl: sandbox.baseUrl })
  yield* Effect.promise(async () => {
    await plaza.profiles.me()
    await plaza.store.setStock("MUG-BLUE-350", 12)
    await sandbox.addFault({ kind: "status", when: "after", status: 503, method: "POST", path: "/posts" })
    await plaza.posts.create({ text: "Fresh tea today." })
  })
  const page = yield* Browser.visit({ colorScheme: "light", viewport: { width: 1100, height: 530 } })
  const picture = yield* Effect.promise(async () => {
    await page.goto(`${sandbox.webUrl}console`)
    return page.screenshot()
  })
  yield* (yield* FileSystem.FileSystem).writeFile(file, picture)
  yield* Console.log(`${file}: ${picture.length} bytes`)
}).pipe(Effect.scoped, Effect.provide(Layer.merge(Browser.layer, NodeServices.layer)))

NodeRuntime.runMain(take)
