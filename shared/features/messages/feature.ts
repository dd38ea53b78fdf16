import type { Feature } from '#shared/core/automation/feature.ts'
import { testMessageConnectionJob } from '#shared/features/messages/jobs.ts'
import { messageMethods } from '#shared/features/messages/sdk.ts'

export const feature = { jobs: { testConnection: testMessageConnectionJob }, sdkMethods: messageMethods } satisfies Feature
