/** What a process uses, by the kernel of Linux. */
import { readFileSync } from "node:fs"

export interface ProcessUsage {
  /** Seconds of CPU since its start. The kernel counts in hundredths. */
  readonly cpu: number
  /** Resident memory in MiB. */
  readonly memory: number
  /** The largest resident memory in MiB. (`maxRSS` of a process counts that of its parent at the start.) */
  readonly peak: number
}

export const usageOf = (pid: number): ProcessUsage => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  const memory = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1])
  const peak = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1_024
  return { cpu: (Number(fields[11]) + Number(fields[12])) / 100, memory: memory / 1_024, peak }
}
