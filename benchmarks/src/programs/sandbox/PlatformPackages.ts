/** Loads what `@plaza/client` and `@plaza/sandbox` depend on, and ends. */
import "@effect/platform"
import "effect"
