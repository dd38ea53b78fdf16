import type { Scope } from '#shared/core/scope/scope.ts'
import { feedFile, keepFeed } from '#shared/features/calendar/feeds/feed.ts'
import { exportCalendarFile } from '#shared/features/calendar/import-export/export-calendar.ts'
import { exportCalendar } from '#shared/features/calendar/jobs.ts'
import { storeFile } from '#shared/platform/jobs/job-files.ts'
import { handler } from '#workers/platform/jobs/handler.ts'

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
