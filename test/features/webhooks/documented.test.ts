import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import { freePort } from '#scripts/ports.ts'
import { makeOrders } from '#test/features/webhooks/receiving.ts'
import { eventually } from '#test/support/eventually.ts'
import { made } from '#test/support/made.ts'
import { shareWorld } from '#test/support/shared-world.ts'

let port = 0
const start = shareWorld(test, async () => {
  port = await freePort()
  return { EGRESS_ALLOW: `127.0.0.1:${port}` }
})

/** The program of the page in a language. */
async function programIn(language: string): Promise<string> {
  const page = await readFile('docs/contract/webhooks.md', 'utf8')
  return new RegExp(`\`\`\`${language}\\n(.*?)\n\`\`\``, 's').exec(page)?.[1] ?? ''
}

const hasPython = spawnSync('python3', ['--version']).status === 0

/** Runs a receiver until the test ends, and collects what it prints. */
function run(t: ExecutionContext, command: string, args: readonly string[], secret: string): { readonly lines: () => string[] } {
  let printed = ''
  const child: ChildProcess = spawn(command, args, { env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret } })
  child.stdout?.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
  })
  t.teardown(() => child.kill('SIGKILL'))
  return { lines: () => printed.split('\n').filter((line) => line !== '') }
}

for (const [language, command, flags] of [
  ['js', process.execPath, ['--input-type=module', '-e']],
  ['python', 'python3', ['-c']],
] as const) {
  const isThere = language !== 'python' || hasPython
  test(`documented: the receiver of the page in ${language} takes what is signed, and nothing else${isThere ? '' : ' (skipped)'}`, async (t) => {
    if (!isThere) return t.pass('there is no python3')
    const w = await start()
    const orders = await makeOrders(w)
    const { owner, path } = w.org
    const body = { url: `http://127.0.0.1:${port}/`, types: ['records.*'] }
    const { id, secret } = (await made(owner.post(`${path}/webhooks`, body))) as unknown as { id: string; secret: string }
    const receiver = run(t, command, [...flags, await programIn(language)], secret)
    const isUp = () =>
      fetch(body.url, {
        method: 'POST',
        headers: { 'webhook-id': 'a', 'webhook-timestamp': '1', 'webhook-signature': 'v1,a' },
        body: '{}',
      }).then(
        ({ status }) => status,
        () => undefined,
      )
    t.is(await eventually(isUp), 400)
    const record = (await owner.post(orders, { values: { title: 'a' } })).data
    await w.drain()
    const [line] = await eventually(() => receiver.lines().length > 0 && receiver.lines())
    t.regex(line ?? '', /^\d+ records\.created \{"object_type": ?"orders", ?"id": ?"/)
    t.true(line?.includes(record.id))
    t.is((await owner.get(`${path}/webhooks/${id}`)).data.status, 'active')
    await owner.delete(`${path}/webhooks/${id}`)
  })
}
