import { crc32 } from 'node:zlib'
import test from 'ava'
import { listFolder } from '#shared/features/drive/objects/list-folder.ts'
import { makeCursor } from '#shared/platform/kernel/cursor.ts'
import { firstSpaces, outcomeOf, spaceOf } from '#test/features/drive/support.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { scopeOf } from '#test/support/scope.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

/** A personal drive with a private file before and after the folder `f/`, which is shared with another member. */
async function shareFolder() {
  const w = await start()
  const org = await createOrg(w)
  const [ann, ben] = [await createMember(w, org), await createMember(w, org)]
  const { main } = await firstSpaces(ann.client, org)
  const space = spaceOf(ann.client, org, main)
  for (const key of ['a-private.txt', 'f/1.txt', 'f/2.txt', 'z-private.txt']) await space.put(key)
  await space.share({ prefix: 'f/', email: `${ben.id}@example.com`, mode: 'view' })
  return { w, org, ben, main }
}

test('cursors: a cursor made by its holder lists nothing', async (t) => {
  const { org, ben, main } = await shareFolder()
  const space = spaceOf(ben.client, org, main)
  t.is((await space.list({ prefix: 'f/' })).data.objects.length, 2)
  for (const position of ['', 'a', 'z']) {
    const checksum = crc32(`drive ${org.id} ${main} f/ \n${position}`).toString(36)
    const cursor = Buffer.from(`${position}~${checksum}`).toString('base64url')
    const answer = await space.list({ prefix: 'f/', cursor })
    t.is(outcomeOf(answer), '400 VALIDATION_ERROR', answer.text)
  }
})

test('cursors: a list stays in its folder wherever the position points', async (t) => {
  const { w, org, ben, main } = await shareFolder()
  const scope = { ...(await scopeOf(w, org, { id: ben.id, type: 'user' })), cursorBinding: () => 'test' }
  for (const q of ['', 'private', '1'])
    for (const key of ['', 'a', 'f', 'f/1.txt', 'z', '\u{10ffff}']) {
      const page = await listFolder(scope, main, { prefix: 'f/', q, limit: 10, cursor: makeCursor(scope, { key }) })
      t.false(JSON.stringify(page).includes('private'), `${q} ${key}`)
    }
})
