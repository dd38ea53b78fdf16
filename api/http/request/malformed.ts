import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { requestIdOf } from '#api/http/request/request-id.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'

/** Time that a client has to read the refusal, in milliseconds. */
const lingerMs = 2_000

/**
 * Answers requests that Node would not pass to the application in the form of all other errors: invalid HTTP, unknown expectations, and
 * CONNECT, whose connection Node closes without an answer.
 */
export function answerMalformedRequests(server: Server): void {
  server.on('clientError', refuse)
  // Without a listener Node answers 417; unknown expectations are ignored.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => server.emit('request', request, response))
  server.on('connect', ({ headers }: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    answer(socket, problem('NOT_FOUND'), requestIdOf(headers['x-request-id'] as string | undefined))
  })
}

function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  answer(socket, (reasons[error.code ?? ''] ?? otherwise)(), requestIdOf(undefined))
}

/** Answers on the bare connection and ends it. */
function answer(socket: Socket, { code, message, status }: Problem, requestId: string): void {
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
