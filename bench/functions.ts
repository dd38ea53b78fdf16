import { readFileSync } from 'node:fs'
import type { Loaded } from '#bench/data.ts'
import { load, type Shot } from '#bench/load.ts'
import { startServer } from '#bench/servers.ts'
import { Sandbox } from '#workers/functions/sandbox/sandbox.ts'

/** Where the functions of a workspace are measured: an API with a worker of the pool `functions`. */
interface Target extends Pick<Loaded, 'workspaceId' | 'token' | 'ids'> {
  readonly url: string
  /** Another workspace, which floods the worker while the first is measured. */
  readonly flooder: Pick<Loaded, 'workspaceId' | 'token'>
}

/** For how long the steady hundred a second is held. */
const holdSeconds = 60

/** Prints the figures of functions, run by a worker of their own beside this API. */
export async function benchFunctions(url: string, loaded: Loaded, environment: NodeJS.ProcessEnv, seconds: number): Promise<void> {
  const worker = await startServer('workers/main.ts', environment, ['--pools=functions,data'])
  try {
    const { data } = await call(url, loaded.token, 'POST', '/v1/orgs', { name: 'Flood' })
    const flooder = { workspaceId: (data as { id: string }).id, token: loaded.token }
    for await (const { name, figures } of measureFunctions({ ...loaded, url, flooder }, seconds)) {
      console.log(`${name.padEnd(22)}${figures}`)
    }
  } finally {
    await worker.stop()
  }
}

/** One line of the table: what was measured, in words and figures. */
interface Line {
  readonly name: string
  readonly figures: string
}

const trivial = 'const handler = () => 1'
const hostile: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('../test/fixtures/sandbox/hostile.json', import.meta.url), 'utf8'),
)
const endless = 'const handler = () => { for (;;); }'

/** Measures functions end to end; each figure stands beside what it is compared with. */
async function* measureFunctions(target: Target, seconds: number): AsyncGenerator<Line> {
  const one = await make(target.url, target, trivial)
  const alone = (shot: Shot) => load(target.url, target.token, shot, 1, seconds)

  const bare = await bareRun(seconds)
  const job = (await alone({ method: 'PUT', make: (index) => ({ path: one, body: JSON.stringify({ name: `n${index}` }) }) })).p50Ms
  const invoke = await alone(invokeOf(one))
  yield {
    name: 'invoke, p50',
    figures: `${ms(invoke.p50Ms)}; bare isolate ${ms(bare)} + job round trip ${ms(job)}: ${(invoke.p50Ms / (bare + job)).toFixed(2)} (at most 3)`,
  }

  const held = await hold(target, one, 100, holdSeconds)
  yield {
    name: 'invoke, 100/s held',
    figures: `${holdSeconds} s: ${held.answered} answered, ${held.failed} failed, p50 ${ms(held.p50Ms)}, p99 ${ms(held.p99Ms)}`,
  }

  const get = await alone({ method: 'GET', make: (index) => ({ path: recordPath(target, index) }) })
  const inside = await sdkGet(target)
  yield {
    name: 'records.get inside',
    figures: `${ms(inside)} a call; through the API ${ms(get.p50Ms)}: ${(inside / get.p50Ms).toFixed(2)} (at most 2)`,
  }

  const quiet = await load(target.url, target.token, invokeOf(one), 2, seconds)
  const mixed = await besideHostile(target, () => load(target.url, target.token, invokeOf(one), 2, 20))
  const noisy = await underFlood(target, () => load(target.url, target.token, invokeOf(one), 2, seconds))
  yield {
    name: 'beside hostile, p95',
    figures: `${ms(mixed.p95Ms)}; quiet ${ms(quiet.p95Ms)}: ${(mixed.p95Ms / quiet.p95Ms).toFixed(2)} (at most 2)`,
  }
  yield {
    name: 'under a flood, p95',
    figures: `${ms(noisy.p95Ms)}; quiet ${ms(quiet.p95Ms)}: ${(noisy.p95Ms / quiet.p95Ms).toFixed(2)} (at most 2)`,
  }
}

const ms = (value: number): string => `${value.toFixed(2)} ms`

const invokeOf = (path: string): Shot => ({ method: 'POST', make: () => ({ path: `${path}/invoke`, body: '{}' }) })

const recordPath = ({ workspaceId, ids }: Target, index: number): string =>
  `/v1/orgs/${workspaceId}/records/deals/${ids[index % ids.length]}`

async function call(url: string, token: string, method: string, path: string, body: object): Promise<{ status: number; data: unknown }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
  const text = await answer.text()
  return { status: answer.status, data: text === '' ? undefined : JSON.parse(text).data }
}

/** Makes a function and gives its path. */
async function make(
  url: string,
  { workspaceId, token }: Pick<Loaded, 'workspaceId' | 'token'>,
  source: string,
  timeoutMs = 30_000,
): Promise<string> {
  const all = `/v1/orgs/${workspaceId}/functions`
  const { data } = await call(url, token, 'POST', all, { name: 'bench', source, timeout_ms: timeoutMs })
  return `${all}/${(data as { id: string }).id}`
}

async function bareRun(seconds: number): Promise<number> {
  const sandbox = new Sandbox({ size: 1, memoryMb: 128 })
  const request = { owner: 'bench', source: trivial, input: null, timeoutMs: 5_000, sdkMethods: ['records.get'], call: async () => null }
  try {
    const times: number[] = []
    for (const end = performance.now() + seconds * 1_000; performance.now() < end; ) {
      const started = performance.now()
      await sandbox.run(request)
      times.push(performance.now() - started)
    }
    return at(times, 0.5)
  } finally {
    await sandbox.close()
  }
}

/** Sends so many a second, whether the earlier ones are answered or not. */
async function hold({ url, token }: Target, path: string, perSecond: number, seconds: number) {
  const times: number[] = []
  let failed = 0
  const send = async () => {
    const started = performance.now()
    const { status, data } = await call(url, token, 'POST', `${path}/invoke`, {}).catch(() => ({ status: 0, data: null }))
    if (status === 200 && (data as { result: unknown }).result === 1) times.push(performance.now() - started)
    else failed += 1
  }
  const sent: Promise<void>[] = []
  const started = performance.now()
  for (let count = 0; count < perSecond * seconds; count++) {
    const due = started + (count * 1_000) / perSecond
    const early = due - performance.now()
    if (early > 1) await new Promise((resolve) => setTimeout(resolve, early))
    sent.push(send())
  }
  await Promise.all(sent)
  return { answered: times.length, failed, p50Ms: at(times, 0.5), p99Ms: at(times, 0.99) }
}

/** Milliseconds of one records.get in a run that does many, one after the other. */
async function sdkGet(target: Target): Promise<number> {
  const source = `async function handler(ids) {
    const times = []
    for (const id of ids) { const started = Date.now(); await sdk.records.get('deals', id); times.push(Date.now() - started) }
    return times.reduce((sum, time) => sum + time, 0) / times.length
  }`
  const path = await make(target.url, target, source)
  const means: number[] = []
  for (let round = 0; round < 5; round++) {
    const { data } = await call(target.url, target.token, 'POST', `${path}/invoke`, { input: target.ids.slice(0, 1_000) })
    means.push((data as { result: number }).result)
  }
  return at(means, 0.5)
}

/** Does the work while another workspace runs every hostile body, four at a time, again and again. */
async function besideHostile<T>({ url, flooder }: Target, work: () => Promise<T>): Promise<T> {
  const paths: string[] = []
  for (const body of Object.values(hostile)) {
    const made = await make(url, flooder, `async function handler() { await null; return eval(${JSON.stringify(body)}) }`, 500)
    paths.push(made)
  }
  let [next, isOver] = [0, false]
  const lane = async () => {
    while (!isOver) await call(url, flooder.token, 'POST', `${paths[next++ % paths.length]}/invoke`, {})
  }
  const lanes = Array.from({ length: 4 }, lane)
  try {
    return await work()
  } finally {
    isOver = true
    await Promise.all(lanes)
  }
}

async function underFlood<T>({ url, flooder }: Target, work: () => Promise<T>): Promise<T> {
  const path = await make(url, flooder, endless)
  await call(url, flooder.token, 'PUT', path, { timeout_ms: 1_000 })
  let isOver = false
  const lane = async () => {
    while (!isOver) await call(url, flooder.token, 'POST', `${path}/invoke`, {})
  }
  const lanes = Array.from({ length: 16 }, lane)
  try {
    return await work()
  } finally {
    isOver = true
    await Promise.all(lanes)
  }
}

function at(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN
}
