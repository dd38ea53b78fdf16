import pg from 'pg'
import { type BackendMessage, DataRowMessage } from 'pg-protocol/dist/messages.js'
import { Parser } from 'pg-protocol/dist/parser.js'

/** The driver's parser as far as it is built upon; its types call the second method private. */
interface DriverParser {
  parse(bytes: Buffer, hear: (message: BackendMessage) => void): void
  handlePacket(offset: number, code: number, length: number, bytes: Buffer): BackendMessage
}

const codeOfRow = 'D'.charCodeAt(0)

/** Bytes of a row beyond which the driver reads it: a part of a text keeps all of it in memory, and asking costs little beside long cells. */
const longestRow = 4_096

/**
 * The driver's parser with another way to read a row: as one text, of which the cells are parts. Asked for each cell's text, Buffer takes
 * longer for the asking than for the text (measured: a page of 50 records in 12 µs instead of 27, a tenth of the whole request).
 */
export class RowParser extends (Parser as unknown as new () => DriverParser) {
  override handlePacket(offset: number, code: number, length: number, bytes: Buffer): BackendMessage {
    if (code !== codeOfRow || length > longestRow) return super.handlePacket(offset, code, length, bytes)
    return new DataRowMessage(length, readCells(bytes, offset, offset + length - 4)) as BackendMessage
  }
}

/** The cells of a row: their number in two bytes, and for each its length in four (−1 for null) before its UTF-8. */
function readCells(bytes: Buffer, start: number, end: number): (string | null)[] {
  const row = bytes.toString('latin1', start, end)
  const cells = new Array<string | null>(bytes.readInt16BE(start))
  let at = start + 2
  for (let index = 0; index < cells.length; index++) {
    const length = bytes.readInt32BE(at)
    at += 4
    if (length === -1) cells[index] = null
    else {
      cells[index] = isAscii(bytes, at, at + length)
        ? row.substring(at - start, at - start + length)
        : bytes.toString('utf8', at, at + length)
      at += length
    }
  }
  return cells
}

function isAscii(bytes: Buffer, start: number, end: number): boolean {
  let all = 0
  for (let at = start; at < end; at++) all |= bytes[at] ?? 0
  return all < 0x80
}

/** A client of the driver that reads rows so. */
export class QuickClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    const connection = this.connection as unknown as Attaching
    connection.attachListeners = (stream) => {
      const parser = new RowParser()
      const hear = (message: BackendMessage) => connection.emit(message.name === 'error' ? 'errorMessage' : message.name, message)
      stream.on('data', (bytes: Buffer) => parser.parse(bytes, hear))
    }
  }
}

/** A connection as far as it is told what to do with what arrives. */
interface Attaching {
  attachListeners: (stream: NodeJS.ReadableStream) => void
  emit(event: string, message: BackendMessage): boolean
}
