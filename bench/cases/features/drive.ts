import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import type { Bench, Case, Group } from '#bench/case.ts'
import { load, type Shot } from '#bench/load.ts'
import { alone, get, race } from '#bench/race.ts'
import { withClient } from '#bench/servers/connection.ts'
import { residentMegabytes } from '#bench/servers/memory.ts'

/** Files at one level among all those objects. */
const levelFiles = 300

/** Bytes of a file that is uploaded and downloaded. */
const fileBytes = 10 * 1024 * 1024

/** Uploads of the memory measurement. */
const uploads = { count: 20, bytes: 100 * 1024 * 1024, growthMegabytes: 64 }

const formType = 'multipart/form-data; boundary=kontor-bench'

/** Uploads, downloads, lists and searches among very many files. */
export const drive: Group = {
  name: 'drive',
  cases: async (bench) => {
    const objects = Math.max(...bench.loaded.sizes.map(({ records }) => records))
    const path = await fillSpace(bench, objects)
    await load({ url: bench.floorUrl, connections: 1, requests: 1 }, { ...upload(() => '/files/seed', fileText), token: '' })
    const among = `of ${objects.toLocaleString('en')} objects`
    const quick = (name: string, query: string): Case => alone(bench, name, `${path}/objects?${query}`, { p50AtMostMs: 10 })
    return [
      quick(`1,000 folders ${among}`, 'prefix=big/'),
      quick(`${levelFiles} files ${among}`, 'prefix=flat/&limit=200'),
      quick(`the top ${among}`, 'prefix='),
      quick(`a search without a match ${among}`, 'q=nothing'),
      quick(`a search of two letters without a match ${among}`, 'q=zq'),
      race(bench, {
        name: 'upload, 10 MB',
        connections: 1,
        floor: upload((index) => `/files/${index % 20}`, fileText),
        kontor: upload(
          () => `${path}/objects`,
          (index) => formOf(`up/${index % 20}`),
        ),
        aims: { ratioAtLeast: 0.7 },
      }),
      race(bench, {
        name: 'download, 10 MB',
        connections: 1,
        floor: get(() => '/files/seed'),
        kontor: get(() => `${path}/download?key=seed`),
        aims: { ratioAtLeast: 0.7 },
      }),
      {
        name: `${uploads.count} uploads of 100 MB at once, growth`,
        unit: 'MB',
        rounds: 1,
        kontor: async () => ({ amount: await growthOf(bench, path) }),
        aims: { amountAtMost: uploads.growthMegabytes },
      },
    ]
  },
}

const upload = (path: (index: number) => string, body: (index: number) => string): Omit<Shot, 'token'> => ({
  method: 'POST',
  contentType: formType,
  make: (index) => ({ path: path(index), body: body(index) }),
})

const text = 'x'.repeat(fileBytes)
const fileText = (): string => text

const head = (key: string): string =>
  `--kontor-bench\r\nContent-Disposition: form-data; name="key"\r\n\r\n${key}\r\n` +
  '--kontor-bench\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
const tail = '\r\n--kontor-bench--\r\n'

const formOf = (key: string): string => head(key) + text + tail

/** Maximum memory that the API's process gains during all uploads. */
async function growthOf({ kontorUrl, kontorPid, loaded }: Bench, path: string): Promise<number> {
  const piece = Buffer.alloc(64 * 1024, 'x')
  const form = async function* (key: string) {
    yield head(key)
    for (let sent = 0; sent < uploads.bytes; sent += piece.length) yield piece
    yield tail
  }
  const headers = { authorization: `Bearer ${loaded.token}`, 'content-type': formType }
  const send = async (key: string) => {
    const answer = await request(`${kontorUrl}${path}/objects`, { method: 'POST', headers, body: Readable.from(form(key)) })
    if (answer.statusCode >= 300) throw new Error(`An upload was answered ${answer.statusCode}: ${await answer.body.text()}`)
    await answer.body.dump()
  }
  const before = residentMegabytes(kontorPid)
  let [most, isOver] = [before, false]
  const sending = Promise.all(Array.from({ length: uploads.count }, (_, index) => send(`large/${index}`))).finally(() => {
    isOver = true
  })
  while (!isOver) {
    most = Math.max(most, residentMegabytes(kontorPid))
    await Promise.race([delay(20), sending])
  }
  await sending
  return most - before
}

/** Makes a space whose objects all name one file, and returns its path. */
async function fillSpace({ loaded: { workspaceId, token }, kontorUrl, databaseUrl }: Bench, objects: number): Promise<string> {
  const authorization = `Bearer ${token}`
  const drive = `/v1/orgs/${workspaceId}/drive/buckets`
  const json = { authorization, 'content-type': 'application/json' }
  const made = await fetch(kontorUrl + drive, { method: 'POST', headers: json, body: JSON.stringify({ key: 'bench', name: 'Bench' }) })
  const { data } = (await made.json()) as { data: { id: string } }
  const path = `${drive}/${data.id}`
  await fetch(`${kontorUrl}${path}/objects`, { method: 'POST', headers: { authorization, 'content-type': formType }, body: formOf('seed') })
  await withClient(databaseUrl, async (db) => {
    // One blob for all: without this, its holder counter would update one row a million times.
    await db.query('begin')
    await db.query('alter table drive_objects disable trigger user')
    await db.query(
      `insert into drive_objects (workspace_id, space_id, key, blob_id, size_bytes, content_type, sha256, created_at, updated_at)
       select workspace_id, space_id, added, blob_id, size_bytes, content_type, sha256, created_at, updated_at
       from drive_objects cross join (
         select 'big/' || lpad((number % 1000)::text, 4, '0') || '/report ' || number || '.pdf' as added from generate_series(1, $3) as number
         union all select 'flat/file ' || number from generate_series(1, $4) as number
       ) where workspace_id = $1 and space_id = $2 and key = 'seed'`,
      [workspaceId, data.id, objects, levelFiles],
    )
    await db.query('alter table drive_objects enable trigger user')
    await db.query('commit')
    await db.query('vacuum analyze drive_objects')
  })
  return path
}
