import { defineBlock, numberSetting, textSetting } from '#shared/core/automation/block.ts'
import { toDecimal } from '#shared/core/automation/clauses.ts'
import { hasReference, toText } from '#shared/core/automation/template.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isDay, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'
import { minuteMs } from '#shared/platform/kernel/time/units.ts'

const maxMinutes = flowLimits.longestWaitMinutes
const minutesMessage = `minutes must be a number from 0 to ${maxMinutes}`
const bothMessage = 'minutes and until cannot both be set'
const untilMessage = 'until must be an instant as RFC 3339 writes it, or a date'

/** Minutes of a setting, fractions included; undefined when it is no number from 0 to the maximum. */
function minutesOf(value: unknown): number | undefined {
  const minutes = toDecimal(value)?.toNumber()
  return minutes !== undefined && minutes >= 0 && minutes <= maxMinutes ? minutes : undefined
}

const instantOf = (value: unknown): string | undefined => {
  const text = toText(value).trim()
  return toUtcInstant(text) ?? (isDay(text) ? toUtcInstant(`${text}T00:00:00Z`) : undefined)
}

/** Whether a setting is a fixed value (not empty, no references) that `read` rejects. */
const isWrong = (value: unknown, read: (value: unknown) => unknown): boolean =>
  value !== undefined && value !== '' && !hasReference(value) && read(value) === undefined

export const waitBlock = defineBlock({
  type: 'logic.wait',
  label: 'Wait',
  description: 'Continues after some minutes or at a time, at most 30 days ahead.',
  settings: { minutes: numberSetting('How long.'), until: textSetting('Until when: an instant, or a date for its first moment in UTC.') },
  required: [],
  problems: ({ minutes, until }) => {
    if ((minutes ?? '') === '' && (until ?? '') === '') return ['minutes or until is required']
    const isJudged = !hasReference(minutes) && !hasReference(until)
    if (isJudged && (minutes ?? '') !== '' && (until ?? '') !== '') return [bothMessage]
    return [...(isWrong(minutes, minutesOf) ? [minutesMessage] : []), ...(isWrong(until, instantOf) ? [untilMessage] : [])]
  },
  handles: ['out'],
  output: {},
  shown: 'readers',
  app: null,
  work: {
    waits: async ({ settings }, scope) => {
      const now = scope.now().getTime()
      if ((settings.minutes ?? '') !== '') {
        const minutes = minutesOf(settings.minutes)
        if ((settings.until ?? '') !== '') throw problem('VALIDATION_ERROR', bothMessage)
        if (minutes === undefined) throw problem('VALIDATION_ERROR', minutesMessage)
        return { kind: 'time', until: new Date(now + minutes * minuteMs).toISOString() }
      }
      const until = instantOf(settings.until)
      if (until === undefined) throw problem('VALIDATION_ERROR', untilMessage)
      if (Date.parse(until) > now + maxMinutes * minuteMs) throw problem('VALIDATION_ERROR', 'until is more than 30 days ahead')
      return { kind: 'time', until }
    },
  },
})
