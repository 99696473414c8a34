/** The manual of the program, generated at build time for help and the man page. */
import * as Help from "@plaza/cli-kit/Help"
import * as ManPage from "@plaza/cli-kit/ManPage"
import { options, plaza } from "./Cli.js"

export const manual = Help.manual(plaza, options)

const statuses: ManPage.Section = {
  head: "EXIT STATUS",
  entries: [
    { name: "0", said: "Done." },
    { name: "1", said: "Any other failure." },
    { name: "2", said: "Invalid arguments, values, files or settings, refused locally or by the service." },
    { name: "3", said: "Not found." },
    { name: "4", said: "Key, scope, access, profile or permission." },
    { name: "5", said: "Conflict." },
    { name: "6", said: "Rate limit or quota beyond the maximum wait." },
    { name: "7", said: "A fault of the service or the network, after retries." },
    { name: "8", said: "Outcome unknown: check before you run it again." },
    { name: "130, 143", said: "Interrupted." }
  ]
}

const variables: ManPage.Section = {
  head: "ENVIRONMENT",
  entries: [
    { name: "PLAZA_BASE_URL", said: "The service's address; ends with /open/v1." },
    { name: "PLAZA_API_KEY", said: "The account's key." },
    { name: "PLAZA_API_KEY_FILE", said: "A file with the account's key, instead of PLAZA_API_KEY." },
    { name: "PLAZA_PROFILE", said: "The name of the account to act on." },
    { name: "PLAZA_TIMEOUT", said: "Timeout of one attempt, for example \"30 seconds\"." },
    {
      name: "PLAZA_ALLOW_INSECURE_HTTP",
      said: "true accepts plain http to another machine, which shows the key to the network (default: false)."
    },
    { name: "PLAZA_RATE_LIMIT, PLAZA_RATE_WINDOW", said: "Requests in a window (default: 120 in \"60 seconds\")." },
    { name: "PLAZA_LOG_LEVEL", said: "Log level on standard error, for example Debug (default: none)." },
    { name: "PLAZA_DEBUG", said: "Any value prints the stack trace of a failure on standard error." },
    { name: "NO_COLOR", said: "Any value disables colours." }
  ]
}

export const manPage = ManPage.render(manual, [statuses, variables])
