/** Loads the packages that a test with a sandbox imports, and ends. */
import "@plaza/client"
import "@plaza/sandbox"
import "effect"
