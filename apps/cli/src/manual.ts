/**
 * What the program tells of itself, gathered when it is bundled: for its help, which is there before the program is, and for man. Never
 * part of the program itself.
 */
import * as Help from "@plaza/terminal/Help"
import * as ManPage from "@plaza/terminal/ManPage"
import { options, plaza } from "./Cli.js"

export const manual = Help.manual(plaza, options)

const statuses: ManPage.Section = {
  head: "EXIT STATUS",
  entries: [
    { name: "0", said: "Done." },
    { name: "1", said: "Anything not below." },
    { name: "2", said: "Wrong words, values, files or settings, refused here or by the service." },
    { name: "3", said: "Not found." },
    { name: "4", said: "Key, scope, access, profile or permission." },
    { name: "5", said: "Conflict." },
    { name: "6", said: "Rate limit or quota, with a longer wait than anyone would take." },
    { name: "7", said: "A fault of the service or the network that stayed." },
    { name: "8", said: "Nobody knows whether it happened: look before doing it again." },
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
    { name: "PLAZA_TIMEOUT", said: "Time for one attempt, as \"30 seconds\"." },
    { name: "PLAZA_ALLOW_INSECURE_HTTP", said: "true accepts plain http to another machine, which shows the key to the network (default: false)." },
    { name: "PLAZA_RATE_LIMIT, PLAZA_RATE_WINDOW", said: "Requests in a window; 120 in \"60 seconds\" unless told." },
    { name: "PLAZA_LOG_LEVEL", said: "Log lines on standard error, as Debug; none unless told." },
    { name: "PLAZA_DEBUG", said: "Anything: where a failure came from, on standard error." },
    { name: "NO_COLOR", said: "Anything: no colours." }
  ]
}

export const manPage = ManPage.render(manual, [statuses, variables])
