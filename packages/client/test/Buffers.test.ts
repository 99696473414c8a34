import { describe, expect, it } from "@effect/vitest"
import * as Buffers from "../src/internal/upload/Buffers.js"

describe("a buffer", () => {
  it("is taken again once the last part of what was in it is given back", () => {
    const buffers = Buffers.make()
    const first = buffers.take(8)
    buffers.lend(first.subarray(0, 6))
    expect(Buffers.isLastPart(first.subarray(0, 3))).toBe(false)
    expect(Buffers.isLastPart(first.subarray(3, 6))).toBe(true)
    expect(buffers.take(8).buffer).not.toBe(first.buffer)
    expect(buffers.areGivenBack()).toBe(false)

    Buffers.giveBack(first.subarray(3, 6))
    expect(buffers.areGivenBack()).toBe(true)
    const again = buffers.take(5)
    expect(again.buffer).toBe(first.buffer)
    expect(again.length).toBe(5)
  })

  it("is known by whatever view there is of it", () => {
    const buffers = Buffers.make()
    const first = buffers.take(8)
    buffers.lend(first)
    const seen = Buffer.from(first.buffer, 4, 4)
    expect(Buffers.isLastPart(seen)).toBe(true)
    Buffers.giveBack(seen)
    expect(buffers.take(8).buffer).toBe(first.buffer)
  })

  it("that is given back twice is taken once", () => {
    const buffers = Buffers.make()
    const first = buffers.take(8)
    buffers.lend(first)
    Buffers.giveBack(first)
    Buffers.giveBack(first)
    expect(Buffers.isLastPart(first)).toBe(false)
    expect(buffers.take(8).buffer).toBe(first.buffer)
    expect(buffers.take(8).buffer).not.toBe(first.buffer)
  })

  it("that is too short is left alone", () => {
    const buffers = Buffers.make()
    const first = buffers.take(8)
    buffers.lend(first)
    Buffers.giveBack(first)
    expect(buffers.take(9).length).toBe(9)
  })

  it("of somebody else goes back to nobody", () => {
    const buffers = Buffers.make()
    const own = new Uint8Array(8)
    expect(Buffers.isLastPart(own)).toBe(false)
    Buffers.giveBack(own)
    expect(buffers.areGivenBack()).toBe(false)
    expect(buffers.take(8).buffer).not.toBe(own.buffer)
  })
})
