/**
 * Presets of common faults, for the console and the command line.
 *
 * @since 0.1.0
 */
import type { Fault } from "./Fault.ts"

/** @since 0.1.0 @category models */
export interface FaultPreset {
  /** A title. */
  readonly name: string
  /** What the caller sees. */
  readonly text: string
  readonly fault: Fault
}

/**
 * Presets by name.
 *
 * @since 0.1.0
 * @category constants
 */
export const faultPresets: Readonly<Record<string, FaultPreset>> = {
  tenth: {
    name: "Every 10th request fails after the commit",
    text: "A 503 although the write was carried out: was it done or not?",
    fault: { kind: "status", when: "after", status: 503, every: 10 }
  },
  outage: {
    name: "Outage for 1 minute",
    text: "Every request gets a 503 before it is handled. Ends by itself.",
    fault: { kind: "status", when: "before", status: 503, lastsMillis: 60_000 }
  },
  limit: {
    name: "Rate limit now",
    text: "The next request gets a 429 with Retry-After: 5.",
    fault: { kind: "status", when: "before", status: 429, retryAfter: "5" }
  },
  network: {
    name: "Slow network",
    text: "Every response takes 300 ms, one in a hundred 3 seconds or more.",
    fault: { kind: "delay", when: "after", millis: { distribution: "logNormal", median: 300, p99: 3_000 }, rate: 1 }
  },
  lost: {
    name: "Response lost",
    text: "The next write is carried out, and the connection closes without a response.",
    fault: { kind: "drop", when: "after", method: "POST" }
  },
  proxy: {
    name: "A proxy's error page",
    text: "The next request gets a 502 in HTML instead of the error envelope.",
    fault: { kind: "status", when: "before", status: 502, body: "<html><h1>502 Bad Gateway</h1></html>", contentType: "text/html" }
  }
}
