import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import { checkKey } from '#shared/features/drive/objects/key.ts'
import { countLooseBlobs, replaceByFolders } from '#test/features/drive/rows.ts'
import { firstSpaces, spaceOf } from '#test/features/drive/support.ts'
import { times } from '#test/support/depth.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { storedFiles } from '#test/support/stored-files.ts'
import { world } from '#test/support/world.ts'

const shared = shareWorld(test, {}, { pools: [] })

const fixtures = join(import.meta.dirname, '..', '..', 'fixtures', 'strings')
const traversals = readFileSync(join(fixtures, 'path-traversal.txt'), 'utf8').split('\n')
const naughty = JSON.parse(readFileSync(join(fixtures, 'naughty-strings.json'), 'utf8')) as readonly string[]

/** Every second entry of the corpora, and cases that they lack. */
const keys = [
  ...new Set(
    [...traversals, ...naughty]
      .filter((_, index) => index % 2 === 0)
      .concat(['con', 'a.', 'a ', '_', '%', '\u202Ea', 'ﬁ', 'fi', '😀'.repeat(256), 'K', 'k', `${'x/'.repeat(511)}yz`]),
  ),
]

const isValid = (key: string): boolean => {
  try {
    return checkKey(key).length > 0 && !key.endsWith('/')
  } catch {
    return false
  }
}

test('hostile: hostile keys are refused or are ordinary keys; none is a path, and none equals another', async (t) => {
  const w = await world({}, [])
  t.teardown(w.close)
  const space = spaceOf(w.org.owner, w.org, (await firstSpaces(w.org.owner, w.org)).main)
  const kept = new Set<string>()
  for (let at = 0; at < keys.length; at += 10) {
    await Promise.all(
      keys.slice(at, at + 10).map(async (key) => {
        const { status } = await space.put(key, `bytes of ${key.normalize('NFC')}`)
        // A form gives text its line ends, and a key that is empty is the file's own name.
        if (key === '' || /[\r\n]/.test(key)) return
        t.is(status, isValid(key) ? 201 : 400, JSON.stringify(key))
        if (status === 201) kept.add(key.normalize('NFC'))
      }),
    )
  }
  t.true(kept.size > 150, String(kept.size))
  await space.remove('upload.bin')
  const found = new Set<string>()
  const walk = async (prefix: string): Promise<void> => {
    const { folders, keys } = await space.all(prefix)
    for (const key of keys) found.add(key)
    for (const folder of folders) await walk(folder)
  }
  await walk('')
  t.deepEqual([...found].sort(), [...kept].sort())
  for (const key of kept) t.is((await space.download(key)).text, `bytes of ${key}`, key)
  t.is((await storedFiles(w)).length, kept.size + (await countLooseBlobs(w.db)))
  t.deepEqual((await readdir(w.config.dataDir)).sort(), ['blobs'], 'nothing lies beside the store')
})

test('hostile: the pages of a level contain the folders of any keys, in the order of their bytes', async (t) => {
  const w = await shared()
  const { main } = await firstSpaces(w.org.owner, w.org)
  const space = spaceOf(w.org.owner, w.org, main)
  const segment = fc.string({ unit: fc.constantFrom('a', 'b', '0', '.', '-', 'é', '\u{10FFFF}', ' '), minLength: 1, maxLength: 3 })
  const key = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'))
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(key, { minLength: 1, maxLength: 30 }),
      key,
      fc.integer({ min: 1, max: 5 }),
      async (keys, other, limit) => {
        const folders = new Set(keys.map((key) => `${key}/`))
        await replaceByFolders(w.db, w.org.id, main, [...folders])
        for (const prefix of ['', `${other.split('/')[0]}/`]) {
          const inside = [...folders].filter((folder) => folder.startsWith(prefix) && folder !== prefix)
          const expected = new Set(inside.map((folder) => folder.slice(0, folder.indexOf('/', prefix.length) + 1)))
          const { folders: listed } = await space.all(prefix, limit)
          t.deepEqual(
            listed,
            [...expected].sort((one, another) => Buffer.compare(Buffer.from(one), Buffer.from(another))),
          )
        }
      },
    ),
    { numRuns: times(15, 40) },
  )
})
