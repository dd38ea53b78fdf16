import { exportCalendarFile, feedFile } from '#shared/calendar/export.ts'
import { exportCalendar } from '#shared/calendar/jobs.ts'
import { storeFile } from '#shared/queue/files.ts'
import { handler } from '#workers/handler.ts'

export default handler(exportCalendar, async ({ payload: { calendarId, reader }, scope }) => {
  const { name, text } = await (reader === 'caller' ? exportCalendarFile : feedFile)(scope, calendarId)
  const bytes = (async function* () {
    yield Buffer.from(text)
  })()
  const { id: fileId } = await storeFile(scope, scope.workspace.id, bytes, { contentType: 'text/calendar; charset=utf-8', name })
  return { result: null, fileId }
})
