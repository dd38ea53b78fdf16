import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { readIcs } from '#shared/calendar/ics/read.ts'
import { Problem } from '#shared/kernel/errors.ts'
import { at, makeCalendar } from '#test/calendar/support.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)
const folder = join(import.meta.dirname, '..', 'fixtures', 'ics')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ics'))
  .sort()

const padded = (year: number): string => String(Math.max(1, year)).padStart(4, '0')

/** What a calendar shows of the first years in which its events begin. */
async function shown(w: Awaited<ReturnType<typeof fresh>>, calendar: string): Promise<string[]> {
  const found: string[] = []
  const { rows } = await w.db.query<{ year: number }>(
    'select distinct extract(year from lower(extent))::integer as year from calendar_events where calendar_id = $1 order by year limit 3',
    [calendar],
  )
  for (const { year } of rows) {
    const { status, data, text } = await w.org.owner.get(
      at(w, `/events?calendars=${calendar}&from=${padded(year)}-01-01&to=${padded(year)}-12-31`),
    )
    if (status !== 200) throw new Error(text)
    found.push(...data.events.map(({ title, start, end, status }: Record<string, string>) => `${start} ${end} ${title} ${status}`))
  }
  return found.sort()
}

function readUnlessRefused(bytes: Uint8Array): void {
  try {
    readIcs(bytes, 'Europe/Berlin')
  } catch (error) {
    if (!(error instanceof Problem)) throw error
  }
}

const calendarFile = { 'content-type': 'text/calendar' }

test('every file comes in or is refused, quickly, and the same the second time; what it exports comes in elsewhere as the same', async (t) => {
  const w = await fresh()
  t.is(files.length, 80)
  for (const file of files) {
    const bytes = readFileSync(join(folder, file))
    const { id } = await makeCalendar(t, w)
    const into = (calendar: string, body: Uint8Array | string) =>
      w.org.owner.send('POST', at(w, `/calendars/${calendar}/import`), body, calendarFile)
    const began = performance.now()
    readUnlessRefused(bytes)
    t.true(performance.now() - began < 2_000, `${file} took long to read`)
    const first = await into(id, bytes)
    t.true([200, 400].includes(first.status), `${file}: ${first.text}`)
    if (first.status === 400) {
      t.deepEqual(await shown(w, id), [], file)
      continue
    }
    const { created, updated, skipped } = first.data
    t.is(updated, 0, file)
    t.like((await into(id, bytes)).data, { created: 0, updated: created, skipped }, file)
    const exported = await w.org.owner.get(at(w, `/calendars/${id}/export`))
    t.is(exported.status, 200, file)
    for (const line of exported.text.split('\r\n'))
      if (Buffer.byteLength(line) > 75) t.fail(`${file}: a line of more than 75 octets: ${line}`)
    const { id: other } = await makeCalendar(t, w)
    const again = await into(other, exported.text)
    t.like(again.data, { created, updated: 0, skipped: 0 }, `${file}: ${JSON.stringify(again.data?.warnings)}`)
    t.deepEqual(await shown(w, other), await shown(w, id), file)
  }
})
