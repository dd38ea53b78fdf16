import type { Scope } from '#shared/core/scope/scope.ts'
import { storeFeedFile, writeFeedFile } from '#shared/features/calendar/feeds/feed.ts'
import { exportCalendarFile } from '#shared/features/calendar/import-export/export-calendar.ts'
import { exportCalendarJob } from '#shared/features/calendar/jobs.ts'
import { storeJobFile } from '#shared/platform/jobs/job-files.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

export default defineHandler(exportCalendarJob, async ({ payload: { calendarId, reader }, scope }) => {
  if (reader === 'caller') return { result: null, fileId: await store(scope, await exportCalendarFile(scope, calendarId)) }
  const feed = await writeFeedFile(scope, calendarId)
  const fileId = await store(scope, feed)
  await storeFeedFile(scope, calendarId, feed.tag, fileId)
  return { result: null, fileId }
})

const store = async (scope: Scope, { text, ...file }: { name: string; text: string; headers?: Readonly<Record<string, string>> }) => {
  const bytes = (async function* () {
    yield Buffer.from(text)
  })()
  const { id } = await storeJobFile(scope, scope.workspace.id, bytes, { contentType: 'text/calendar; charset=utf-8', ...file })
  return id
}
