import test from 'ava'
import { addCopies, listHeldBlobs, readDriveTotals } from '#test/features/drive/rows.ts'
import { firstSpaces, outcomeOf, spaceOf } from '#test/features/drive/support.ts'
import { createOrg } from '#test/support/factories.ts'
import { readFileUsage } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)
const opened = async () => {
  const w = await start()
  const org = await createOrg(w)
  const { shared } = await firstSpaces(org.owner, org)
  const space = spaceOf(org.owner, org, shared)
  /** Files written past the API, all with the bytes of the first. */
  const fill = async (prefix: string, count: number) => {
    await space.put(`${prefix}seed`)
    await addCopies(w.db, org.id, prefix, count - 1, 4 * (count - 1))
  }
  return { w, org, space, fill }
}

test('moves: files and folders move without copying a byte', async (t) => {
  const { space, w, org } = await opened()
  for (const key of ['a/x', 'a/b/y', 'z']) await space.put(key, key)
  const before = await listHeldBlobs(w.db, org.id)
  t.deepEqual((await space.move('z', 'renamed')).data, { moved: 1 })
  t.deepEqual((await space.move('a/', 'deep/er/')).data, { moved: 2 })
  t.is((await space.download('deep/er/b/y')).text, 'a/b/y')
  t.deepEqual(await space.all(), { folders: ['deep/'], keys: ['renamed'] })
  t.deepEqual((await space.move('renamed', 'Renamed')).data, { moved: 1 }, 'a change of case alone')
  t.deepEqual(await listHeldBlobs(w.db, org.id), before)
})

test('moves: a move to the same key, into itself, of a file to a folder, to a used key or of a missing key is refused', async (t) => {
  const { space } = await opened()
  for (const key of ['a/x', 'b/x', 'c', 'd']) await space.put(key)
  for (const [from, to] of [
    ['a/', 'a/'],
    ['a/', 'a/b/'],
    ['c', 'c'],
    ['c', 'e/'],
    ['a/', 'e'],
    ['/a', 'e'],
    ['c', 'e//f'],
  ]) {
    t.is(outcomeOf(await space.move(from ?? '', to ?? '')), '400 VALIDATION_ERROR', `${from} ${to}`)
  }
  t.is(outcomeOf(await space.move('c', 'd')), '409 KEY_TAKEN')
  t.is(outcomeOf(await space.move('a/', 'b/')), '409 KEY_TAKEN')
  t.is(outcomeOf(await space.move('none', 'e')), '404 NOT_FOUND')
  t.is(outcomeOf(await space.move('none/', 'e/')), '404 NOT_FOUND')
  t.deepEqual(await space.all(), { folders: ['a/', 'b/'], keys: ['c', 'd'] })
  const long = `${'l'.repeat(1_000)}/`
  t.is(outcomeOf(await space.move('a/', `${long}${'m'.repeat(22)}/`)), '400 VALIDATION_ERROR', 'a/x would have 1,025 bytes')
  t.is(outcomeOf(await space.move('a/', `${long}${'m'.repeat(21)}/`)), '200')
})

test('moves: a folder is merged into an existing one, and moves into its own parent', async (t) => {
  const { space } = await opened()
  for (const key of ['a/x', 'a/b/y', 'a/b/a/deep', 'a/b/b/y']) await space.put(key, key)
  for (const key of ['a/', 'a/b/', 'a/b/b/', 'a/made/', 'c/made/']) await space.makeFolder(key)
  t.deepEqual((await space.move('a/b/', 'a/')).data, { moved: 3 })
  t.deepEqual((await space.all('a/')).keys, ['a/x', 'a/y'])
  t.deepEqual((await space.all('a/')).folders, ['a/a/', 'a/b/', 'a/made/'])
  t.is((await space.download('a/b/y')).text, 'a/b/b/y')
  t.deepEqual((await space.move('a/', 'c/')).data, { moved: 4 })
  t.deepEqual(await space.all('c/'), { folders: ['c/a/', 'c/b/', 'c/made/'], keys: ['c/x', 'c/y'] })
  t.deepEqual((await space.move('c/made/', 'd/')).data, { moved: 0 })
  t.deepEqual((await space.all()).folders, ['c/', 'd/'])
})

test('moves: 2,000 files are moved or deleted in one call, and 2,001 are refused', async (t) => {
  const { space, fill, w, org } = await opened()
  await fill('many/', 2_000)
  await fill('more/', 2_001)
  const totals = () => readDriveTotals(w.db, org.id)
  t.deepEqual(await totals(), { files: 4_001, bytes: 16_004 })
  t.is(outcomeOf(await space.move('more/', 'other/')), '400 VALIDATION_ERROR')
  t.is(outcomeOf(await space.remove('more/')), '400 VALIDATION_ERROR')
  t.deepEqual((await space.move('many/', 'moved/')).data, { moved: 2_000 })
  t.deepEqual((await space.remove('moved/')).data, { deleted: 2_000 })
  t.deepEqual(await totals(), { files: 2_001, bytes: 8_004 })
  t.is((await space.remove('more/k7')).status, 200)
  t.deepEqual((await space.remove('more/')).data, { deleted: 2_000 })
  t.deepEqual(await totals(), { files: 0, bytes: 0 })
  const { data } = await org.owner.get(`${org.path}/drive/buckets`)
  t.deepEqual(
    data.buckets.map(({ object_count, total_bytes }: Record<string, number>) => [object_count, total_bytes]),
    [
      [0, 0],
      [0, 0],
    ],
  )
  t.is(await readFileUsage(w.db, org.id), 0)
})
