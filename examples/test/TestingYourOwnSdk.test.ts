import { startSandbox } from "@plaza/sandbox/promise"
import { createPlaza, type Plaza } from "@plaza/sdk"
import { afterEach, expect, it, vi } from "vitest"

/** The application under test. */
const announce = (plaza: Plaza) => plaza.posts.create({ text: "Back in stock." })

afterEach(() => {
  vi.useRealTimers()
})

it("posts once when the service fails twice after it stored the post", async () => {
  vi.useFakeTimers()
  const { addFault, apiKey, baseUrl, fetch, state } = await startSandbox()
  const plaza = createPlaza({ apiKey, baseUrl, fetch })
  const before = await state()
  await addFault({ kind: "status", when: "after", status: 503, times: 2 })
  const announced = announce(plaza)
  // Longer than all retries and the search for the post.
  await vi.advanceTimersByTimeAsync(30_000)
  const post = await announced
  const { posts } = await state()
  expect(posts).toHaveLength(before.posts.length + 1)
  expect(posts.filter(({ text }) => text === "Back in stock.")).toMatchObject([{ id: post.id }])
})
