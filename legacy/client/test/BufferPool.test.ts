import { describe, expect, it } from "@effect/vitest"
import * as BufferPool from "../src/internal/upload/BufferPool.ts"

describe("a pool of buffers", () => {
  it("reuses a buffer once the last part of its lent bytes is released", () => {
    const pool = BufferPool.make()
    const first = pool.acquire(8)
    pool.lend(first.subarray(0, 6))
    BufferPool.release(first.subarray(0, 3))
    expect(pool.isRecycling()).toBe(false)
    expect(pool.acquire(8).buffer).not.toBe(first.buffer)

    BufferPool.release(first.subarray(3, 6))
    expect(pool.isRecycling()).toBe(true)
    const again = pool.acquire(5)
    expect(again.buffer).toBe(first.buffer)
    expect(again.length).toBe(5)
  })

  it("recognises a buffer by any view of it", () => {
    const pool = BufferPool.make()
    const first = pool.acquire(8)
    pool.lend(first)
    BufferPool.release(Buffer.from(first.buffer, 4, 4))
    expect(pool.acquire(8).buffer).toBe(first.buffer)
  })

  it("does not reuse a buffer that was never lent", () => {
    const pool = BufferPool.make()
    const first = pool.acquire(8)
    BufferPool.release(first)
    expect(pool.isRecycling()).toBe(false)
    expect(pool.acquire(8).buffer).not.toBe(first.buffer)
  })

  it("accepts a buffer once, even if it is released several times", () => {
    const pool = BufferPool.make()
    const first = pool.acquire(8)
    pool.lend(first)
    BufferPool.release(first)
    BufferPool.release(first)
    expect(pool.acquire(8).buffer).toBe(first.buffer)
    expect(pool.acquire(8).buffer).not.toBe(first.buffer)
  })

  it("drops a buffer that is too short", () => {
    const pool = BufferPool.make()
    const first = pool.acquire(8)
    pool.lend(first)
    BufferPool.release(first)
    expect(pool.acquire(9).length).toBe(9)
  })

  it("doesn't mix the buffers of two pools", () => {
    const pool = BufferPool.make()
    const other = BufferPool.make()
    const first = pool.acquire(8)
    pool.lend(first)
    BufferPool.release(first)
    expect(other.isRecycling()).toBe(false)
    expect(other.acquire(8).buffer).not.toBe(first.buffer)
    expect(pool.acquire(8).buffer).toBe(first.buffer)
  })

  it("ignores bytes of other buffers", () => {
    const pool = BufferPool.make()
    const foreign = new Uint8Array(8)
    BufferPool.release(foreign)
    expect(pool.isRecycling()).toBe(false)
    expect(pool.acquire(8).buffer).not.toBe(foreign.buffer)
  })
})
