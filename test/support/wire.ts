import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { holdContract } from '#test/support/contract.ts'
import { resetSocket } from '#test/support/reset-socket.ts'

/** A response as it was received. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  /** The parsed body; undefined when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies of every shape
  readonly body: any
  readonly text: string
}

/** A connection to the API for requests that no client would send. */
export class Wire {
  readonly socket: Socket
  #received: Promise<string> | undefined

  /** With `readsLate`, nothing is read before `answer` is called. */
  constructor(port: number, readsLate = false) {
    this.socket = connect(port, '127.0.0.1')
    // Errors after the server's response, such as the end of a connection that still sends, do not fail the test.
    this.socket.on('error', () => this.socket.destroy())
    if (!readsLate) void this.#receive()
  }

  #receive(): Promise<string> {
    this.#received ??= text(this.socket).catch(() => '')
    return this.#received
  }

  /** Sends bytes unchanged; text as Latin-1, one byte per character. */
  send(...pieces: readonly (string | Uint8Array)[]): this {
    for (const piece of pieces) this.socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)
    return this
  }

  /** Waits until the server has ended the connection, and returns its last response. Send `Connection: close`. */
  async answer(): Promise<RawAnswer> {
    const received = await this.#receive()
    const start = received.lastIndexOf('HTTP/1.1 ')
    const [head = '', ...rest] = received.slice(start).split('\r\n\r\n')
    const [statusLine = '', ...lines] = head.split('\r\n')
    const headers = new Headers(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]))
    const body = rest.join('\r\n\r\n')
    const isJson = headers.get('content-type')?.startsWith('application/json') && body !== ''
    return { status: Number(statusLine.split(' ')[1]), headers, text: body, body: isJson ? JSON.parse(body) : undefined }
  }

  /** Breaks the connection. */
  breakOff(): void {
    resetSocket(this.socket)
  }
}

/** One request on its own connection: a request line, header lines and a body, sent unchanged and checked against the contract. */
export async function sendRaw(
  port: number,
  requestLine: string,
  headers: readonly string[] = [],
  body: string | Uint8Array = '',
): Promise<RawAnswer> {
  const head = [requestLine, 'Host: localhost', 'Connection: close', ...headers].join('\r\n')
  const answer = await new Wire(port).send(`${head}\r\n\r\n`, body).answer()
  const [method = '', path = ''] = requestLine.split(' ')
  if (path.startsWith('/v1')) holdContract(method, path, answer)
  return answer
}
