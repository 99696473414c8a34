/** `plaza doctor`: checks what commands need. */
import { command } from "./Definition.ts"

export const doctor = command(
  "doctor",
  {
    summary: "Check the configuration and the connection to the service.",
    details: [
      "Checks Node, the profile, the base URL, the API key, the rate limit, the proxy, DNS, TLS, the service, its clock and the account. " +
      "Sends one request, GET /me, and changes nothing. Exits with 1 if a check fails."
    ],
    examples: ["doctor", "doctor --profile shop --json"],
    output: "doctor"
  },
  {},
  () => import("./DoctorHandlers.ts").then(({ doctor }) => doctor)
)
