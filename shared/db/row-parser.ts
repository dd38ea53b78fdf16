import pg from 'pg'
import { type BackendMessage, DataRowMessage } from 'pg-protocol/dist/messages.js'
import { Parser } from 'pg-protocol/dist/parser.js'

/** The methods of the driver's parser that are used here; its types declare the second one private. */
interface DriverParser {
  parse(bytes: Buffer, hear: (message: BackendMessage) => void): void
  handlePacket(offset: number, code: number, length: number, bytes: Buffer): BackendMessage
}

const codeOfRow = 'D'.charCodeAt(0)

/** Longest row in bytes that is read here. The driver reads longer ones: a substring keeps the whole text of its row in memory. */
const longestRow = 4_096

/**
 * The driver's parser, which reads a row as one text and takes the cells as substrings. One call of Buffer for each cell costs more than the
 * text itself (docs/decisions/row-parser.md: a tenth of a request for 50 records).
 */
export class RowParser extends (Parser as unknown as new () => DriverParser) {
  override handlePacket(offset: number, code: number, length: number, bytes: Buffer): BackendMessage {
    if (code !== codeOfRow || length > longestRow) return super.handlePacket(offset, code, length, bytes)
    return new DataRowMessage(length, readCells(bytes, offset, offset + length - 4)) as BackendMessage
  }
}

/** Reads the cells of a row: a count of two bytes, then for each cell a length of four bytes (−1 for null) and its UTF-8. */
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

/** A client of the driver that reads rows by `RowParser`. */
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

/** The part of the driver's connection that attaches a parser to its stream. */
interface Attaching {
  attachListeners: (stream: NodeJS.ReadableStream) => void
  emit(event: string, message: BackendMessage): boolean
}
