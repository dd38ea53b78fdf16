/** One message between the worker and a runner. */
export interface Frame {
  readonly kind: number
  /** The id of an SDK call, the index of a log level or the length of a source, depending on the kind; otherwise 0. */
  readonly number: number
  readonly text: string
}

/** Maximum bytes of a frame's text, by kind. Kinds that are not listed are not accepted. */
export type FrameLimits = Readonly<Record<number, number>>

/**
 * Encodes a frame: length of the text, kind, number, text in UTF-8. Runners evaluate the text of this function, too, so it may use only its
 * parameters and globals.
 */
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
 * Creates a decoder: a function that receives chunks and delivers each complete frame. It throws at the header of a frame whose kind is
 * unknown or whose text is longer than its kind allows, before it buffers the text. Runners evaluate the text of this function, too, so it
 * may use only its parameters and globals.
 */
export function createFrameReader(limits: FrameLimits, deliver: (frame: Frame) => void): (chunk: Buffer) => void {
  let buffered: Buffer[] = []
  let size = 0
  let wanted = 9
  return (chunk) => {
    buffered.push(chunk)
    size += chunk.length
    while (size >= wanted) {
      const bytes = buffered.length === 1 ? (buffered[0] as Buffer) : Buffer.concat(buffered)
      buffered = [bytes]
      const length = bytes.readUInt32LE(0)
      const kind = bytes.readUInt8(4)
      const maxLength = limits[kind]
      if (maxLength === undefined || length > maxLength) throw new Error(`a frame of kind ${kind} with ${length} bytes is not allowed`)
      wanted = 9 + length
      if (size < wanted) return
      const frame = { kind, number: bytes.readUInt32LE(5), text: bytes.toString('utf8', 9, wanted) }
      buffered = size > wanted ? [bytes.subarray(wanted)] : []
      size -= wanted
      wanted = 9
      deliver(frame)
    }
  }
}
