import type { feature } from '#shared/features/messages/feature.ts'
import testConnection from '#workers/features/messages/test-connection.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const handlers = {
  testConnection,
} satisfies HandlersOf<typeof feature.jobs>
