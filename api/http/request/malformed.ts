import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { requestIdOf } from '#api/http/request/request-id.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'

/** How long a caller may take to read why it was refused. */
const lingerMs = 2_000

/**
 * Gives requests that never come as far as the application the same answers as all others: those that are no HTTP, odd expectations, and
 * CONNECT, whose connection Node ends without a word.
 */
export function answerMalformedRequests(server: Server): void {
  server.on('clientError', refuse)
  // Node answers 417 by itself; an expectation that nobody knows may as well be ignored.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => server.emit('request', request, response))
  server.on('connect', ({ headers }: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    say(socket, problem('NOT_FOUND'), requestIdOf(headers['x-request-id'] as string | undefined))
  })
}

function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  say(socket, (reasons[error.code ?? ''] ?? otherwise)(), requestIdOf(undefined))
}

/** Answers on the bare connection and ends it. */
function say(socket: Socket, { code, message, status }: Problem, requestId: string): void {
  const body = JSON.stringify({ error: { code, message, request_id: requestId } })
  const head = [
    `HTTP/1.1 ${status} ${status === 404 ? 'Not Found' : 'Bad Request'}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-ID: ${requestId}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

const otherwise = (): Problem => problem('VALIDATION_ERROR', 'The request is not valid HTTP')

const reasons: Readonly<Record<string, () => Problem>> = {
  HPE_INVALID_METHOD: () => problem('NOT_FOUND'),
  HPE_HEADER_OVERFLOW: () => problem('VALIDATION_ERROR', 'The headers are too large'),
  ERR_HTTP_REQUEST_TIMEOUT: () => problem('VALIDATION_ERROR', 'The request did not arrive in time'),
}
