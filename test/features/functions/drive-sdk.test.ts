import test from 'ava'
import { firstSpaces, makeSpace, spaceOf } from '#test/features/drive/support.ts'
import { createFunction, handlerOf, invoke, runBody } from '#test/features/functions/support.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)

test('drive sdk: files of text are written, read and listed as through the API, by the key or id of their space', async (t) => {
  const { org } = await fresh()
  const { result } = await runBody(
    t,
    org,
    `const made = await sdk.drive.write('org', 'a/b.csv', 'x,y', 'text/csv')
     await sdk.drive.write('org', 'top.txt', 'ü')
     return { made, text: await sdk.drive.read('org', 'top.txt'), top: await sdk.drive.list('org'), below: await sdk.drive.list('org', 'a/') }`,
  )
  const space = spaceOf(org.owner, org, (await firstSpaces(org.owner, org)).shared)
  t.is(result.text, 'ü')
  t.deepEqual(result.top, (await space.list()).data)
  t.deepEqual(result.below.objects, [result.made])
  t.is((await space.download('a/b.csv')).text, 'x,y')
})

test('drive sdk: the first write into the caller’s main drive makes it', async (t) => {
  const { org } = await fresh()
  const { result } = await runBody(t, org, `return (await sdk.drive.write('user-${org.ownerId}', 'a.txt', 'x')).key`)
  t.is(result, 'a.txt')
  const { main } = await firstSpaces(org.owner, org)
  t.is((await spaceOf(org.owner, org, main).download('a.txt')).text, 'x')
})

test('drive sdk: a call that the API would refuse throws, and the rights are the caller’s', async (t) => {
  const { org, ...w } = await fresh()
  const id = await makeSpace(org.owner, org, 'plans')
  await spaceOf(org.owner, org, id).put('a', 'text')
  await spaceOf(org.owner, org, id).put('binary', Buffer.from([255, 254, 0, 1]))
  await spaceOf(org.owner, org, id).put('large', 'x'.repeat(1024 * 1024 + 1))
  const calls = [
    "sdk.drive.read('plans', 'a')",
    "sdk.drive.read('plans', 'none')",
    "sdk.drive.read('nowhere', 'a')",
    "sdk.drive.read('plans', '/a')",
    "sdk.drive.read('plans', 'binary')",
    "sdk.drive.read('plans', 'large')",
    "sdk.drive.write('plans', 'b', 7)",
    "sdk.drive.list('plans', 'no-folder')",
    "sdk.drive.write('plans', 'b', 'new')",
  ]
  const caught = calls.map((call) => `await ${call}.then(() => 'done', (error) => error.code)`)
  const fn = await createFunction(t, org, handlerOf(`return [${caught.join(', ')}]`))
  const refused = ['NOT_FOUND', 'NOT_FOUND', ...Array(5).fill('VALIDATION_ERROR')]
  t.deepEqual((await invoke(t, org, fn.id)).result, ['done', ...refused, 'done'])
  const reader = await createMember(w, org, [
    { effect: 'allow', actions: ['functions:invoke'] },
    { effect: 'allow', actions: ['drive:read'], resources: ['plans'] },
  ])
  t.deepEqual((await invoke(t, org, fn.id, undefined, reader.client)).result, ['done', ...refused, 'FORBIDDEN'])
  const other = await createMember(w, org, [{ effect: 'allow', actions: ['functions:invoke'] }])
  const { result } = await invoke(t, org, fn.id, undefined, other.client)
  t.deepEqual([result[0], result.at(-1)], ['NOT_FOUND', 'NOT_FOUND'])
})
