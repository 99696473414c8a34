/** The writes that `plaza mcp` can offer, by the name of their operation. Data only, for help and validation. */
export const writes = [
  "followUser",
  "uploadMedia",
  "createPost",
  "createComment",
  "likePost",
  "createStory",
  "setStock",
  "shipOrder",
  "sendMessage"
] as const

export type Write = typeof writes[number]

export const isWrite = (name: string): name is Write => writes.some((write) => write === name)
