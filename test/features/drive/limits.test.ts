import { randomBytes } from 'node:crypto'
import test from 'ava'
import { readConfig } from '#shared/platform/kernel/config.ts'
import { listHeldBlobs } from '#test/features/drive/rows.ts'
import { firstSpaces, makeSpace, outcomeOf, spaceOf } from '#test/features/drive/support.ts'
import { createOrg } from '#test/support/factories.ts'
import { countRows, readFileUsage } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test, { DRIVE_MAX_UPLOAD_BYTES: '1000000', FREE_FILE_BYTES: '5000' })

const opened = async (plan: 'paid' | 'free' = 'paid') => {
  const w = await start()
  const org = await createOrg(w, 'Limits', plan)
  return { w, org, space: spaceOf(org.owner, org, (await firstSpaces(org.owner, org)).shared) }
}

test('limits: a file may have 100 MB', (t) => {
  const secret = randomBytes(32).toString('hex')
  t.is(readConfig({ DATABASE_URL: 'postgres://localhost/x', SECRET_KEY: secret }).maxUploadBytes, 104_857_600)
})

test('limits: a file over the limit is refused with the limit, and leaves nothing', async (t) => {
  const { space, w, org } = await opened()
  const { status, body } = await space.put('large', Buffer.alloc(1_000_001))
  t.is(status, 400)
  t.regex(body.error.message, /file must be at most 1000000 bytes/)
  t.is(await countRows(w.db, 'blobs', org.id), 0)
  t.is((await space.put('largest', Buffer.alloc(1_000_000))).status, 201)
})

test('limits: the free plan allows files below its cap, counts replaced files no more, and allows three spaces', async (t) => {
  const { space, org, w } = await opened('free')
  t.is((await space.put('a', Buffer.alloc(3_000))).status, 201)
  t.is(outcomeOf(await space.put('b', Buffer.alloc(2_001))), '402 LIMIT_EXCEEDED')
  t.is((await space.put('b', Buffer.alloc(2_000))).status, 201)
  t.is(outcomeOf(await space.put('c', 'x')), '402 LIMIT_EXCEEDED')
  t.is((await space.remove('b')).status, 200)
  t.is((await space.put('a', Buffer.alloc(5_000))).status, 200)
  t.is(outcomeOf(await space.put('a', Buffer.alloc(4_000))), '402 LIMIT_EXCEEDED')
  t.is((await space.list()).data.objects[0].size, 5_000)
  t.is(await readFileUsage(w.db, org.id), 5_000)
  t.is((await listHeldBlobs(w.db, org.id)).length, 1)
  const ids = [await makeSpace(org.owner, org, 'one'), await makeSpace(org.owner, org, 'two'), await makeSpace(org.owner, org, 'three')]
  const four = () => org.owner.post(`${org.path}/drive/buckets`, { key: 'four', name: 'Four' })
  t.is(outcomeOf(await four()), '402 LIMIT_EXCEEDED')
  await org.owner.delete(`${org.path}/drive/buckets/${ids[0]}`)
  t.is((await four()).status, 201)
  t.is((await org.owner.post(`${org.path}/drive/buckets`, { type: 'personal', name: 'Mine' })).status, 201)
})
