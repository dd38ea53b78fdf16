import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { readIcs } from '#shared/features/calendar/ics/read-file.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { at, makeCalendar } from '#test/features/calendar/support.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)
const folder = join(import.meta.dirname, '..', '..', 'fixtures', 'ics')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ics'))
  .sort()

/** The events of an exported file, in an order independent of their creation, with UIDs made comparable between files. */
function eventsIn(text: string, mark = ''): string[] {
  const lines = text.replaceAll('\r\n ', '').split('\r\n')
  const stable = lines.filter((line) => !/^(?:DTSTAMP|CREATED|LAST-MODIFIED):/.test(line)).join('\r\n')
  const events = stable.match(/^BEGIN:VEVENT\r$[\s\S]*?^END:VEVENT\r$/gm) ?? []
  return events.map((event) => event.replace(/^UID:/m, `UID:${mark}`)).sort()
}

/** Events of several files as files of their own that are not too large, those of one file together. */
function filesOf(events: readonly (readonly string[])[]): string[] {
  const parts: string[][] = [[]]
  for (const ofFile of events) {
    if ((parts.at(-1)?.length ?? 0) + ofFile.length > 2_000) parts.push([])
    parts.at(-1)?.push(...ofFile)
  }
  return parts.map((part) => ['BEGIN:VCALENDAR\r', 'X-WR-TIMEZONE:UTC\r', ...part, 'END:VCALENDAR\r', ''].join('\n'))
}

async function readUnlessRefused(bytes: Uint8Array): Promise<void> {
  try {
    await readIcs(bytes, 'Europe/Berlin', {
      contentType: 'text/calendar',
      budget: computeBudget('w', { steps: 20_000_000, bound: 'few steps' }),
    })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
  }
}

const calendarFile = { 'content-type': 'text/calendar' }

test('ics files: every file is imported or refused, with the same result twice, and its export is imported equally elsewhere', async (t) => {
  const w = await fresh()
  t.is(files.length, 80)
  const into = (calendar: string, body: Uint8Array | string) =>
    w.org.owner.send('POST', at(w, `/calendars/${calendar}/import`), body, calendarFile)
  const kept: string[][] = []
  let came = 0
  for (const [index, file] of files.entries()) {
    const bytes = readFileSync(join(folder, file))
    const { id } = await makeCalendar(t, w)
    const began = process.threadCpuUsage()
    await readUnlessRefused(bytes)
    t.true(process.threadCpuUsage(began).user < 5_000_000, `${file} took long to read`)
    const first = await into(id, bytes)
    t.true([200, 400].includes(first.status), `${file}: ${first.text}`)
    const exported = await w.org.owner.get(at(w, `/calendars/${id}/export`))
    t.is(exported.status, 200, file)
    if (first.status === 400) {
      t.deepEqual(eventsIn(exported.text), [], file)
      continue
    }
    const { created, updated, skipped } = first.data
    t.is(updated, 0, file)
    t.like((await into(id, bytes)).data, { created: 0, updated: created, skipped }, file)
    for (const line of exported.text.split('\r\n'))
      if (Buffer.byteLength(line) > 75) t.fail(`${file}: a line of more than 75 octets: ${line}`)
    kept.push(eventsIn(exported.text, `${index} `))
    came += created
  }
  const { id: other } = await makeCalendar(t, w)
  const results = []
  for (const text of filesOf(kept)) results.push((await into(other, text)).data)
  t.deepEqual(
    results.map(({ updated, skipped, warnings }) => [updated, skipped, warnings]),
    results.map(() => [0, 0, []]),
  )
  t.is(
    results.reduce((sum, { created }) => sum + created, 0),
    came,
  )
  const elsewhere = await w.org.owner.get(at(w, `/calendars/${other}/export`))
  t.deepEqual(eventsIn(elsewhere.text), kept.flat().sort())
})
