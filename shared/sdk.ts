import type { SdkMethod } from '#shared/core/automation/sdk-method.ts'
import { recordMethods } from '#shared/core/records/sdk.ts'
import { accountingMethods } from '#shared/features/accounting/sdk.ts'
import { calendarMethods } from '#shared/features/calendar/sdk.ts'
import { driveMethods } from '#shared/features/drive/sdk.ts'
import { flowMethods } from '#shared/features/flows/sdk.ts'
import { cryptoMethods } from '#shared/features/functions/crypto-sdk.ts'
import { functionMethods } from '#shared/features/functions/sdk.ts'
import { secretMethods } from '#shared/features/functions/secrets/sdk.ts'
import { messageMethods } from '#shared/features/messages/sdk.ts'
import { queueMethods } from '#shared/features/queues/sdk.ts'

/** All SDK methods that functions can call (decisions, Functions). A domain adds its own table here. */
export const sdkMethods: readonly SdkMethod[] = [
  ...recordMethods,
  ...functionMethods,
  ...secretMethods,
  ...cryptoMethods,
  ...driveMethods,
  ...accountingMethods,
  ...messageMethods,
  ...flowMethods,
  ...queueMethods,
  ...calendarMethods,
]
