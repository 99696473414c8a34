/** The program that README.md and docs/sdk.md show. */
import { createPlaza } from "@plaza/sdk"

// Reads PLAZA_BASE_URL and PLAZA_API_KEY.
const plaza = createPlaza.fromEnv()

const product = await plaza.store.setStock("MUG-BLUE-350", 12)
const post = await plaza.posts.create({ text: "The blue mugs are back." })
process.stdout.write(`${product.id}: ${product.stock}, ${post.text}\n`)
