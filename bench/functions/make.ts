import { readFileSync } from 'node:fs'
import type { Send } from '#bench/client.ts'

export const trivial = 'const handler = () => 1'
export const endless = 'const handler = () => { for (;;); }'

/** Functions that do one hostile thing each. */
export const hostile: readonly string[] = Object.values(
  JSON.parse(readFileSync(new URL('../../test/fixtures/sandbox/hostile.json', import.meta.url), 'utf8')) as Record<string, string>,
).map((body) => `async function handler() { await null; return eval(${JSON.stringify(body)}) }`)

/** Makes a function and returns its path within its workspace. */
export async function makeFunction(send: Send, source: string, timeoutMs = 30_000): Promise<string> {
  const { id } = await send('POST', '/functions', { name: 'bench', source, timeout_ms: timeoutMs })
  return `/functions/${id}`
}
