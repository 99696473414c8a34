import { createPlaza } from "@plaza/sdk"

// Reads PLAZA_BASE_URL and PLAZA_API_KEY.
const plaza = createPlaza.fromEnv()

const { id } = await plaza.posts.create({ text: "Hello from Plaza." })
process.stdout.write(`created the post ${id}\n`)
