import type { Plaza } from "@plaza/sdk"

/** One attempt of at most ten seconds, without a wait for the rate limit. */
export const setStockOnce = (plaza: Plaza, stock: number, signal: AbortSignal) =>
  plaza.store.setStock("MUG-BLUE-350", stock, { signal, timeout: "10s", maxWait: 0, retry: false })

/** Three retries after 1, 2 and 4 seconds, each of which is logged. */
export const setStockPatiently = (plaza: Plaza, stock: number, log: (entry: object) => void) =>
  plaza.store.setStock("MUG-BLUE-350", stock, {
    retry: { times: 3, delay: "1s" },
    onAttempt: ({ delay, failure, number, operation }) => {
      if (failure !== undefined) log({ operation, number, failure: failure._tag, delay })
    }
  })
