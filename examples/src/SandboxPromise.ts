import { startSandbox } from "@plaza/sandbox/promise"

export const failsAfterCommit = async () => {
  const sandbox = await startSandbox()
  await sandbox.addFault({ kind: "status", when: "after", status: 500, path: "/posts" })
  const response = await sandbox.fetch(`${sandbox.baseUrl}/posts`, {
    method: "POST",
    headers: { authorization: `Bearer ${sandbox.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ text: "hello" })
  })
  const { posts } = await sandbox.state()
  return { status: response.status, newest: posts.at(-1)?.text } // 500, "hello": the post was created
}
