import { readFileSync } from 'node:fs'
import { times } from '#test/support/depth.ts'

/** Bodies of functions that mean ill, by name. */
export const hostileBodies: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('../../../fixtures/sandbox/hostile.json', import.meta.url), 'utf8'),
)

/** The three places from which a body is tried. */
const places: readonly ((body: string) => string)[] = [
  (body) => `function handler() { ${body} }`,
  (body) => `async function handler() { await null; return eval(${JSON.stringify(body)}) }`,
  (body) => `${body}\nfunction handler() { return 'reached' }`,
]

/** Each body in one of the places, in another one each day; in full, in all of them. */
export function hostileSources(): { name: string; source: string }[] {
  const today = Math.floor(Date.now() / 86_400_000)
  return Object.entries(hostileBodies).flatMap(([name, body], index) =>
    Array.from({ length: times(1, places.length) }, (_, more) => {
      const place = places[(index + today + more) % places.length]
      return { name, source: place?.(body) ?? body }
    }),
  )
}
