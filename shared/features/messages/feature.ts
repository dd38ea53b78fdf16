import type { Feature } from '#shared/core/automation/feature.ts'
import { connectionSecrets } from '#shared/features/messages/connections/store.ts'
import { messageEvents } from '#shared/features/messages/event-types.ts'
import { testMessageConnectionJob } from '#shared/features/messages/jobs.ts'
import { messageMethods } from '#shared/features/messages/sdk.ts'

export const feature = {
  jobs: { testConnection: testMessageConnectionJob },
  events: [messageEvents],
  sdkMethods: messageMethods,
  sealed: Object.values(connectionSecrets),
} satisfies Feature
