import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { restrictedDialer } from '#shared/platform/egress/dialer.ts'
import type { EgressFailure } from '#shared/platform/egress/failure.ts'
import { exchangeTcp } from '#shared/platform/egress/tcp.ts'
import { eventually } from '#test/support/eventually.ts'

/** A server on loopback that the operator allows, and an exchange with it that reads until the other side ends. */
async function opened(t: ExecutionContext, serve: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)))
    serve(socket)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const door = restrictedDialer({ egressAllow: [`127.0.0.1:${port}`] })
  const read = (timeoutMs = 5_000) =>
    exchangeTcp(door, { host: '127.0.0.1', port, tls: false, timeoutMs, maxBytes: 100_000 }, async (socket) => {
      let text = ''
      for await (const part of socket) text += part
      return text
    })
  return { read, sockets }
}

test('tcp: an exchange returns the result of its work and leaves no connection open', async (t) => {
  const { read, sockets } = await opened(t, (socket) => socket.end('hello'))
  t.is(await read(), 'hello')
  await eventually(() => sockets.size === 0)
})

test('tcp: a server that sends without end is cut off at the limit', async (t) => {
  const { read } = await opened(t, (socket) => {
    const flood = () => void (socket.destroyed || socket.write(Buffer.alloc(50_000), () => setImmediate(flood)))
    flood()
  })
  t.is(((await t.throwsAsync(read())) as EgressFailure).reason, 'too_large')
})

test('tcp: a silent server runs into the timeout', async (t) => {
  const { read } = await opened(t, () => undefined)
  t.is(((await t.throwsAsync(read(150))) as EgressFailure).reason, 'timeout')
})
