import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { callWith } from '#test/bin/call.ts'
import { createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const take = shareWorld(test)

test('drive: files are uploaded to a space, downloaded, listed, moved and deleted', async (t) => {
  const w = await take()
  const folder = mkdtempSync(join(tmpdir(), 'kontor-drive-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const robot = await createService(w, w.org, [{ effect: 'allow', actions: ['*'] }])
  const environment = { KONTOR_URL: `http://127.0.0.1:${w.api.port}`, KONTOR_KEY: robot.client.token ?? '', DATA_DIR: w.config.dataDir }
  const kontor = (...args: readonly string[]) => callWith(environment, 'drive', ...args)
  const bytes = randomBytes(700_000)
  const file = join(folder, 'ü photo.bin')
  writeFileSync(file, bytes)
  t.is((await kontor('put', file, 'org:a/')).out, 'org:a/ü photo.bin, 700,000 bytes, application/octet-stream\n')
  t.is((await kontor('put', file, 'org:b.bin', '--json')).json.size, 700_000)
  t.regex((await kontor('ls')).out, /^org: {2}Shared, 2 files, 1,400,000 bytes$/m)
  const listed = await kontor('ls', 'org:')
  t.regex(listed.out, /-\s+a\/\n700,000 {2}[-\dT:]{19}Z {2}b\.bin\n$/)
  t.deepEqual((await kontor('mv', 'org:b.bin', 'org:a/')).out, '1 files moved\n')
  t.is((await kontor('mv', 'org:a/', 'org:c/', '--json')).json.moved, 2)
  const back = join(folder, 'back')
  t.is((await kontor('get', 'org:c/b.bin', back)).code, 0)
  t.deepEqual(readFileSync(back), bytes)
  t.is((await kontor('get', 'org:c/b.bin', folder)).out, `${join(folder, 'b.bin')}, 700,000 bytes\n`)
  t.deepEqual(readdirSync(folder).sort(), ['b.bin', 'back', 'ü photo.bin'])
  t.is((await kontor('rm', 'org:c/')).out, '2 files deleted\n')
  for (const [args, code] of [
    [['get', 'org:c/b.bin', back], 1],
    [['get', 'org:c/'], 2],
    [['get', 'nowhere:x'], 1],
    [['ls', 'no-place'], 2],
    [['put', join(folder, 'none'), 'org:x'], 2],
    [['put', folder, 'org:x'], 2],
    [['rm', 'org:none'], 1],
  ] as const) {
    t.is((await kontor(...args)).code, code, args.join(' '))
  }
})
