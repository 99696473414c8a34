/** The program that README.md begins with. */
import { startSandbox } from "@plaza/sandbox/promise"
import { createPlaza } from "@plaza/sdk"

const sandbox = await startSandbox()
const plaza = createPlaza({ apiKey: sandbox.apiKey, baseUrl: sandbox.baseUrl, fetch: sandbox.fetch })
// The next two writes are stored, and the response is a 503 all the same.
await sandbox.addFault({ kind: "status", when: "after", status: 503, method: "POST", times: 2 })

const { text } = await plaza.posts.create({ text: "Fresh tea today." }) // looks for the post, and finds it
const { posts } = await sandbox.state()
const failure = await plaza.chat.send("conv_301", "It is ready.").catch(String) // a message cannot be looked for
process.stdout.write(`posts in the shop: ${posts.filter((post) => post.text === text).length}\n${failure}\n`)
