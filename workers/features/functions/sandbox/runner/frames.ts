/** One message between the worker and a runner. */
export interface Frame {
  readonly kind: number
  /** What the kind says it is: a call's id, a log level's place; else 0. */
  readonly number: number
  readonly text: string
}

/** Which kinds may arrive, and how many bytes of text each may bring. */
export type FrameLimits = Readonly<Record<number, number>>

/** A frame as bytes: length of the text, kind, number, text in UTF-8. Runs in both processes, so it names nothing outside itself. */
export function encodeFrame(kind: number, number = 0, text = ''): Buffer {
  const length = Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafe(9 + length)
  bytes.writeUInt32LE(length, 0)
  bytes.writeUInt8(kind, 4)
  bytes.writeUInt32LE(number, 5)
  bytes.write(text, 9)
  return bytes
}

/**
 * Makes a function that takes chunks as they come and hands over each whole frame. It throws at the header of a frame whose kind is
 * unknown or whose text is longer than its kind allows, before any of that text is kept. Runs in both processes.
 */
export function createFrameReader(limits: FrameLimits, deliver: (frame: Frame) => void): (chunk: Buffer) => void {
  let kept: Buffer[] = []
  let size = 0
  let wanted = 9
  return (chunk) => {
    kept.push(chunk)
    size += chunk.length
    while (size >= wanted) {
      const bytes = kept.length === 1 ? (kept[0] as Buffer) : Buffer.concat(kept)
      kept = [bytes]
      const length = bytes.readUInt32LE(0)
      const kind = bytes.readUInt8(4)
      const most = limits[kind]
      if (most === undefined || length > most) throw new Error(`a frame of kind ${kind} with ${length} bytes is not allowed`)
      wanted = 9 + length
      if (size < wanted) return
      const frame = { kind, number: bytes.readUInt32LE(5), text: bytes.toString('utf8', 9, wanted) }
      kept = size > wanted ? [bytes.subarray(wanted)] : []
      size -= wanted
      wanted = 9
      deliver(frame)
    }
  }
}
