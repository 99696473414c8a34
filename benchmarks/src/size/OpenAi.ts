/** One call of `openai` in a page. Only its size is measured. */
import OpenAI from "openai"

export const call = async (): Promise<unknown> => new OpenAI({ apiKey: "key", dangerouslyAllowBrowser: true }).models.retrieve("1")
