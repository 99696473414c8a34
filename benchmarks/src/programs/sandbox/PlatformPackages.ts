/** Loads what `@plaza/client` and `@plaza/sandbox` import of the platform, and ends. */
import "@effect/platform-node/NodeFileSystem"
import "effect"
import "effect/http-api/HttpApiBuilder"
import "effect/http/HttpClient"
