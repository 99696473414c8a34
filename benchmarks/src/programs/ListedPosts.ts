/**
 * A list of posts of any length, whose pages are generated on request.
 *
 * Source: interface v1, "List behaviour".
 */

const newest = Date.UTC(2026, 9, 20)

const post = (index: number) => ({
  id: `post_${index}`,
  text: `Post ${index}: how a map is folded so that it can be unfolded again`,
  mediaIds: [`media_${index}`],
  createdAt: new Date(newest - index * 1_000).toISOString(),
  visibility: "public"
})

/** The page after a cursor of a list with `total` posts, as JSON. */
export const page = (total: number, limit: number, cursor: string | null): string => {
  const from = cursor === null ? 0 : Number(cursor.slice("after_".length))
  const to = Math.min(total, from + limit)
  const data = Array.from({ length: to - from }, (_, index) => post(from + index))
  return JSON.stringify({ data, next_cursor: to === total ? null : `after_${to}` })
}
