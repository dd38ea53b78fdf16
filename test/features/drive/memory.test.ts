import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { firstSpaces, spaceOf } from '#test/features/drive/support.ts'
import { startS3 } from '#test/platform/blobs/s3-server.ts'
import { startApiProcess } from '#test/support/api-process.ts'
import type { Client } from '#test/support/client.ts'
import { world } from '#test/support/world.ts'

const piece = randomBytes(64 * 1024)

/** Resident memory of a process in megabytes, by its own metrics. */
const residentMb = async (client: Client): Promise<number> =>
  Number(/^process_resident_memory_bytes (\d+)$/m.exec((await client.get('/metrics')).text)?.[1]) / 1024 / 1024

/** A form whose file is generated while it is sent, so that this process never holds it. */
async function* formOf(key: string, megabytes: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`--b\r\nContent-Disposition: form-data; name="key"\r\n\r\n${key}\r\n`)
  yield Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n')
  for (let count = 0; count < (megabytes * 1024 * 1024) / piece.length; count++) yield piece
  yield Buffer.from('\r\n--b--\r\n')
}

// Other systems do not report the resident memory.
const onLinux = process.platform === 'linux' ? test : test.skip

const stores = {
  disk: { uploads: 6, uploadMb: 40, environment: async (_t: ExecutionContext) => ({}) },
  // Its server takes no more in one piece.
  s3: { uploads: 24, uploadMb: 10, environment: async (t: ExecutionContext) => (await startS3(t)).environment },
}

for (const [name, { uploads, uploadMb, environment }] of Object.entries(stores)) {
  // The exact growth depends on the machine and is a figure of the bench. An API that held its files would grow by all of them.
  const mostMb = (uploads * uploadMb) / 2
  onLinux(`memory: ${name}: ${uploads} uploads of ${uploadMb} MB at once move a process by less than half of that`, async (t) => {
    const store = await environment(t)
    const w = await world(store, [])
    t.teardown(w.close)
    const { main } = await firstSpaces(w.org.owner, w.org)
    const client = (await startApiProcess(t, w, store)).as(w.org.owner.token)
    const { path } = spaceOf(client, w.org, main)
    const send = (key: string) =>
      client.post(`${path}/objects`, ReadableStream.from(formOf(key, uploadMb)), { 'content-type': 'multipart/form-data; boundary=b' })
    t.is((await send('first')).status, 201)
    const before = await residentMb(client)
    let [most, isOver] = [0, false]
    const sending = Promise.all(Array.from({ length: uploads }, (_, index) => send(String(index)))).finally(() => {
      isOver = true
    })
    // Samples of the memory until the uploads end, not a wait.
    while (!isOver) {
      most = Math.max(most, await residentMb(client))
      await delay(50)
    }
    t.true((await sending).every(({ status, data }) => status === 201 && data.size === uploadMb * 1024 * 1024))
    t.log(`grew by ${Math.round(most - before)} MB from ${Math.round(before)}`)
    t.true(most - before < mostMb, `grew by ${Math.round(most - before)} MB`)
  })
}
