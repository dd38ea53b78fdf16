import { exportCalendarFile } from '#shared/calendar/export.ts'
import { feedFile, keepFeed } from '#shared/calendar/feed.ts'
import { exportCalendar } from '#shared/calendar/jobs.ts'
import { storeFile } from '#shared/queue/files.ts'
import type { Scope } from '#shared/scope/scope.ts'
import { handler } from '#workers/handler.ts'

export default handler(exportCalendar, async ({ payload: { calendarId, reader }, scope }) => {
  if (reader === 'caller') return { result: null, fileId: await store(scope, await exportCalendarFile(scope, calendarId)) }
  const feed = await feedFile(scope, calendarId)
  const fileId = await store(scope, feed)
  await keepFeed(scope, calendarId, feed.tag, fileId)
  return { result: null, fileId }
})

const store = async (scope: Scope, { text, ...file }: { name: string; text: string; headers?: Readonly<Record<string, string>> }) => {
  const bytes = (async function* () {
    yield Buffer.from(text)
  })()
  const { id } = await storeFile(scope, scope.workspace.id, bytes, { contentType: 'text/calendar; charset=utf-8', ...file })
  return id
}
