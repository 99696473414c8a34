/** A program with the built package ends by itself, also without `close`. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { built } from "./support/Built.ts"

/** A request for the user `held`, which gets no response. One for the user `after` waits for it. */
let held: Promise<unknown> = Promise.resolve()

// It never closes an idle connection, so only the program can.
const server = createServer({ keepAliveTimeout: 0 }, ({ url = "" }, response) => {
  const respond = (body: unknown) => response.setHeader("content-type", "application/json").end(JSON.stringify(body))
  const post = { id: "p1", text: "One." }
  if (url === "/open/v1/users/held") server.emit("held")
  else if (url === "/open/v1/users/after") void held.then(() => respond({ username: "ben" }))
  else respond(url.startsWith("/open/v1/me/posts") ? { data: [post, post], nextCursor: "next" } : { username: "ana" })
})
beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening")
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const addressOf = () => {
  const address = server.address()
  if (typeof address !== "object" || address === null) throw new Error("the server has no port")
  return `http://127.0.0.1:${address.port}/open/v1`
}

/** Runs a program with a client, until it ends. A program that does not end fails the test by its timeout. */
const run = async (entry: string, statements: string) => {
  const code = `import { createPlaza } from ${JSON.stringify(built(entry))}
const plaza = createPlaza.fromEnv(${entry === "node.js" ? "{ keepAlive: '1h' }" : ""})
${statements}`
  const child = spawn(process.execPath, ["--input-type=module", "--eval", code], {
    env: { PATH: process.env["PATH"], PLAZA_BASE_URL: addressOf(), PLAZA_API_KEY: "k".repeat(50) },
    stdio: ["ignore", "pipe", "pipe"]
  })
  try {
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
    return { stdout: stdout.trim(), stderr, code: child.exitCode }
  } finally {
    child.kill("SIGKILL")
  }
}

const aborted = `const controller = new AbortController()
const held = plaza.profiles.get("held", { signal: controller.signal }).catch((reason) => reason)
await plaza.profiles.get("after")
controller.abort("late")
console.log(await held)`

const me = "console.log((await plaza.profiles.me()).username)"

describe.each(["node.js", "files.js", "index.js"])("a program with dist/%s", (entry) => {
  it.each([
    ["awaits close()", `${me}; await plaza.close()`, "ana"],
    ["does not close its client", me, "ana"],
    ["leaves a list early", "for await (const { text } of plaza.posts.list()) { console.log(text); break }", "One."],
    ["aborts a call that the service does not answer", aborted, "late"]
  ])("ends if it %s", async (_, statements, printed) => {
    held = once(server, "held")
    expect(await run(entry, statements)).toEqual({ stdout: printed, stderr: "", code: 0 })
  })
})
