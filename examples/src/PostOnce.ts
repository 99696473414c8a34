/** The program that README.md begins with. */
import { startSandbox } from "@plaza/sandbox/promise"
import { createPlaza } from "@plaza/sdk"

const sandbox = await startSandbox()
const plaza = createPlaza({ apiKey: sandbox.apiKey, baseUrl: sandbox.baseUrl, fetch: sandbox.fetch })
// The sandbox stores the next two writes, and then responds with 503.
await sandbox.addFault({ kind: "status", when: "after", status: 503, method: "POST", times: 2 })

const { text } = await plaza.posts.create({ text: "Fresh tea today." })
const { posts } = await sandbox.state()
const failure = await plaza.chat.send("conv_301", "It is ready.").catch((error: unknown) => error)
process.stdout.write(`${posts.filter((post) => post.text === text).length} post\n${String(failure)}\n`)
