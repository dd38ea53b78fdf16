import pg from 'pg'
import type { Bench, Case, Group, Side } from '#bench/case.ts'
import { load, type Shot } from '#bench/load.ts'

/** Objects in the large space. */
const objects = 1_000_000

/** Bytes of an upload that is measured. */
const uploadBytes = 1024 * 1024

const boundary = 'kontor-bench'

/** Files come and go, and a level of very many is listed. */
export const drive: Group = {
  name: 'drive',
  cases: async (bench) => {
    const path = await fillSpace(bench)
    const list = (prefix: string): Shot => ({
      method: 'GET',
      make: () => ({ path: `${path}/objects?prefix=${prefix}` }),
      token: bench.loaded.token,
    })
    return [
      of(bench, 'a level of 1,000 folders, a million objects below', list('big/'), { p50AtMostMs: 10 }),
      of(bench, 'the top of a million objects', list(''), { p50AtMostMs: 10 }),
      of(bench, 'upload, 1 MB', {
        method: 'POST',
        contentType: `multipart/form-data; boundary=${boundary}`,
        make: (index) => ({ path: `${path}/objects`, body: formOf(`up/${index % 1_000}`) }),
        token: bench.loaded.token,
      }),
      of(bench, 'download, 1 MB', { method: 'GET', make: () => ({ path: `${path}/download?key=seed` }), token: bench.loaded.token }),
    ]
  },
}

function of(bench: Bench, name: string, shot: Shot, aims?: Case['aims']): Case {
  const kontor = (): Promise<Side> => load({ url: bench.kontorUrl, connections: 1, seconds: bench.seconds }, shot)
  return { name, unit: 'requests/s', kontor, ...(aims ? { aims } : {}) }
}

const formOf = (key: string): string =>
  [
    `--${boundary}\r\nContent-Disposition: form-data; name="key"\r\n\r\n${key}\r\n`,
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${'x'.repeat(uploadBytes)}\r\n--${boundary}--\r\n`,
  ].join('')

/** Makes a space whose objects all name one file, and gives its address. */
async function fillSpace({ loaded: { workspaceId, token }, kontorUrl, databaseUrl }: Bench): Promise<string> {
  const authorization = `Bearer ${token}`
  const drive = `/v1/orgs/${workspaceId}/drive/buckets`
  const json = { authorization, 'content-type': 'application/json' }
  const made = await fetch(kontorUrl + drive, { method: 'POST', headers: json, body: JSON.stringify({ key: 'bench', name: 'Bench' }) })
  const { data } = (await made.json()) as { data: { id: string } }
  const path = `${drive}/${data.id}`
  const type = `multipart/form-data; boundary=${boundary}`
  await fetch(`${kontorUrl}${path}/objects`, { method: 'POST', headers: { authorization, 'content-type': type }, body: formOf('seed') })
  const db = new pg.Client({ connectionString: databaseUrl })
  await db.connect()
  try {
    // One blob for all: its row would be updated a million times by what counts the holders.
    await db.query('set session_replication_role = replica')
    await db.query(
      `insert into drive_objects (workspace_id, space_id, key, blob_id, size_bytes, content_type, sha256, created_at, updated_at)
       select workspace_id, space_id, 'big/' || lpad((number % 1000)::text, 4, '0') || '/' || number, blob_id, size_bytes, content_type, sha256,
         created_at, updated_at
       from drive_objects cross join generate_series(1, $3::integer) as number where workspace_id = $1 and space_id = $2 and key = 'seed'`,
      [workspaceId, data.id, objects],
    )
    await db.query('vacuum analyze drive_objects')
  } finally {
    await db.end()
  }
  return path
}
