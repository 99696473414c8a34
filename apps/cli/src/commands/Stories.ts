/** `plaza stories`: creates stories from JSON, because the document doesn't show the payload. */
import * as Flags from "@plaza/cli-kit/Flags"
import { command, group } from "./Definition.ts"

const create = command(
  "create",
  {
    summary: "Create a story from a JSON object, and print the response.",
    details: ["Not retried if its outcome is unknown: the command then exits with 8."],
    examples: ["stories create --input story.json"],
    output: "createStory"
  },
  { input: Flags.text("input", "FILE", "A file with the story as a JSON object; - for standard input.") },
  () => import("./StoriesHandlers.ts").then(({ create }) => create)
)

export const stories = group("stories", { summary: "Create stories.", examples: ["stories create --input story.json"] }, [create])
