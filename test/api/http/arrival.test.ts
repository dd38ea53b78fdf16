import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { watchArrival } from '#api/http/request/arrival.ts'
import { Wire } from '#test/support/wire.ts'

/** The outcome of waiting for the body of a request that stays away. */
async function arrivalOf(body: string, ms: number, then: (wire: Wire) => void, length = 10): Promise<string> {
  const server = createServer().listen(0)
  const wire = new Wire((server.address() as AddressInfo).port).send(
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${body}`,
  )
  const [request] = (await once(server, 'request')) as [IncomingMessage]
  request.resume()
  const arrival = watchArrival(request, { bytes: 1_000, ms })
  const whole = once(request, 'end').then(() => 'whole')
  then(wire)
  const outcome = await Promise.race([whole, arrival.failed.catch((error: Error) => error.message)])
  arrival.release()
  wire.breakOff()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  return outcome
}

test('arrival: a body without new bytes for a while has stalled', async (t) => {
  t.is(await arrivalOf('half', 50, () => undefined), 'body did not arrive whole: fewer than 1000 bytes of it came in 0.05 seconds')
})

test('arrival: a body that arrives byte by byte has stalled', async (t) => {
  let drip: NodeJS.Timeout | undefined
  const outcome = await arrivalOf(
    'half',
    100,
    (wire) => {
      drip = setInterval(() => wire.send('x'), 20)
    },
    1_000_000,
  )
  clearInterval(drip)
  t.is(outcome, 'body did not arrive whole: fewer than 1000 bytes of it came in 0.1 seconds')
})

test('arrival: a body whose connection breaks fails at once', async (t) => {
  t.is(await arrivalOf('half', 60_000, (wire) => wire.breakOff()), 'body did not arrive whole: the connection broke off')
})

test('arrival: a body that arrives is complete', async (t) => {
  t.is(await arrivalOf('half', 60_000, (wire) => wire.send('whole.')), 'whole')
})

test('arrival: a whole body is lost when its connection breaks before it was read', async (t) => {
  const server = createServer().listen(0)
  const wire = new Wire((server.address() as AddressInfo).port).send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nfull')
  const [request] = (await once(server, 'request')) as [IncomingMessage]
  const arrival = watchArrival(request)
  wire.breakOff()
  await t.throwsAsync(arrival.failed, { message: 'body did not arrive whole: the connection broke off' })
  arrival.release()
  await new Promise((resolve) => server.close(resolve))
})
