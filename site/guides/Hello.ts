import { createPlaza } from "@plaza/sdk"

// Reads PLAZA_BASE_URL and PLAZA_API_KEY.
const plaza = createPlaza.fromEnv()

const { id } = await plaza.posts.create({ text: `Hello at ${new Date().toISOString()}.` })
process.stdout.write(`created the post ${id}\n`)
