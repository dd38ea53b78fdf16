import { platform } from 'node:process'
import test from 'ava'
import { maxStreams } from '#shared/platform/events/streams-store.ts'
import { follow, received } from '#test/core/events/following.ts'
import { createOrg } from '#test/support/factories.ts'
import { residentBytes } from '#test/support/living-processes.ts'
import { startLogged } from '#test/support/logged-process.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

/** Workspaces with as many streams as one may have. */
const workspaces = 10

/** The most memory in bytes that 500 streams may add to an API process. */
const maxAddedBytes = 150_000_000

const onLinux = platform === 'linux' ? test : test.skip

onLinux('stream memory: 500 streams of one process take less than 150 MB', async (t) => {
  const w = await shared()
  const api = await startLogged(t, w, 'api')
  const root = await api.root()
  const memory = () => residentBytes(api.child.pid ?? 0)
  const orgs = await Promise.all(Array.from({ length: workspaces }, () => createOrg(w)))
  const write = (count: number) =>
    Promise.all(
      orgs.map(async ({ owner, path }) => {
        for (let number = 0; number < count; number += 1)
          await owner.post(`${path}/records/locations`, { values: { name: 'a'.repeat(400) } })
      }),
    )
  // The process has done once what it does later.
  const warm = await Promise.all(orgs.map((org) => follow(t, { org }, { root, token: org.owner.token })))
  await write(5)
  await Promise.all(warm.map((stream) => received(stream, 5)))
  const before = memory()
  const began = performance.now()
  const streams = await Promise.all(
    orgs.flatMap((org) => Array.from({ length: maxStreams - 1 }, () => follow(t, { org }, { root, token: org.owner.token }))),
  )
  t.true(streams.every(({ answer }) => answer.statusCode === 200))
  const openedMs = performance.now() - began
  const idle = memory()
  await write(5)
  for (const stream of streams) await received(stream, 5)
  const after = memory()
  t.log(`opened in ${Math.round(openedMs)} ms; before ${before >> 20}, idle ${idle >> 20}, after 50 events ${after >> 20} MB`)
  t.true(Math.max(idle, after) - before < maxAddedBytes, `${before} ${idle} ${after}`)
})
