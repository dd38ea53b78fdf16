import type { feature } from '#shared/core/people/feature.ts'
import mailReset from '#workers/core/people/mail-reset.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const handlers = {
  mailReset,
} satisfies HandlersOf<typeof feature.jobs>
