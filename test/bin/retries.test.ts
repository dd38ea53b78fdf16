import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { connectApi } from '../../bin/client/api.ts'

/** A server whose first responses are 503; its paths are those of an API. */
async function startUnready(failures: number) {
  let left = failures
  const server = createServer((request, response) => {
    if (left-- > 0) return response.writeHead(503).end('{"error":{"code":"OVERLOADED","message":"Too busy"}}')
    if (request.url?.endsWith('/export')) return response.writeHead(202).end('{"data":{"job_id":"1"}}')
    if (request.url?.endsWith('/jobs/1')) return response.end('{"data":{"status":"done"}}')
    return response.writeHead(200, { etag: '"digest"', 'content-length': '5' }).end('bytes')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

for (const path of ['/orgs/1/export', '/orgs/1/objects/a']) {
  test(`retries: a refused download of ${path} is retried, and fails after the last wait`, async (t) => {
    const { server, url } = await startUnready(2)
    t.teardown(() => server.close())
    const read = async (waits: readonly number[]) => {
      const api = connectApi(url, 'key', { waits })
      return text(path.endsWith('export') ? await api.download(path) : (await api.open(path)).bytes)
    }
    t.is((await t.throwsAsync(read([])))?.message, 'Too busy')
    t.is(await read([0.01]), 'bytes')
  })
}

for (const sent of ['', 'id: a:1\nevent: seen\ndata: {}\n\n']) {
  test(`retries: a stream that sends ${sent === '' ? 'nothing' : 'one heartbeat'} and is silent then counts as broken`, async (t) => {
    const server = createServer((_, response) => {
      if (sent !== '') response.writeHead(200).write(sent)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      server.close()
      server.closeAllConnections()
    })
    const api = connectApi(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'key', { silenceMs: 300 })
    const parts: unknown[] = []
    const read = async () => {
      // Work on a part that takes longer than the silence does not count.
      for await (const part of api.follow('/events', 'a:0', new AbortController().signal)) {
        await delay(400)
        parts.push(part)
      }
    }
    t.regex((await t.throwsAsync(read()))?.message ?? '', /^http:\S+ has sent nothing for 0\.3 s$/)
    t.deepEqual(parts, sent === '' ? [] : [{ id: 'a:1', event: 'seen', data: '{}' }])
  })
}
