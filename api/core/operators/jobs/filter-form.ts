import type { Field } from '#api/pages/fields/field.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { type JobFilter, jobFilter, jobStates, readFilterTime } from '#shared/platform/jobs/operator/filter.ts'
import { t } from '#shared/platform/kernel/schema.ts'

const about = (description: string) => t.Optional(t.String({ description }))

/** The filter of `GET /v1/operator/jobs` as a form sends it: empty texts filter nothing. The page itself checks it, and keeps what is wrong. */
export const filterParameters = {
  kind: about('Name of the job.'),
  state: about('A state of jobs.'),
  workspace: about('Id of a workspace.'),
  principal: about('Id of who caused the job.'),
  request_id: about('The request that caused the job.'),
  error: about('A part of the code or message of failed jobs.'),
  from: about('Filed at this time or later: an instant, or how long ago: `30m`, `2h`, `7d`.'),
  to: about('Filed before this time.'),
}
type FilterName = keyof typeof filterParameters
/** The texts of a filter by their names. */
export type FilterTexts = Readonly<Partial<Record<FilterName, string | undefined>>>

const filterNames = Object.keys(filterParameters) as FilterName[]

/** The texts of a filter that filter something, without spaces around them. */
export const filledTexts = (texts: FilterTexts): FilterTexts =>
  Object.fromEntries(
    filterNames.flatMap((name) => {
      const text = texts[name]?.trim() ?? ''
      return text === '' ? [] : [[name, text]]
    }),
  )

/** Reads a filter. Throws VALIDATION_ERROR, which begins with the name of the field, for a text that does not fit. */
export function readFilter(texts: FilterTexts, now: Date): JobFilter {
  const { from, to, ...others } = filledTexts(texts)
  return jobFilter.parse({
    ...others,
    ...(from !== undefined && { from: readFilterTime(from, now) }),
    ...(to !== undefined && { to: readFilterTime(to, now) }),
  })
}

const text = { type: 'text', isFilter: true } as const
const id = { ...text, attributes: { maxlength: 36, autocomplete: 'off', spellcheck: 'false' } } as const
const time = { ...text, attributes: { maxlength: 40, autocomplete: 'off', placeholder: '2h' } } as const

const sorts = [
  { value: '-created_at', label: 'newest first' },
  { value: 'created_at', label: 'oldest first' },
]

/** A choice, with the chosen value among its options also where it is none of them, so that the form shows what was sent. */
const choice = (name: string, label: string, blank: string, values: readonly string[]): Field => ({
  name,
  label,
  blank,
  type: 'select',
  isFilter: true,
  options: values.map((value) => ({ value, label: value })),
})

/** The fields that most searches need, those of ids, and those of time, each for a row. */
export const filterFields = (jobs: readonly AnyJob[]): Readonly<Record<'first' | 'ids' | 'times', readonly Field[]>> => ({
  first: [
    choice('kind', 'Kind', 'all kinds', jobs.map(({ name }) => name).sort()),
    choice('state', 'State', 'all states', jobStates),
    { ...text, name: 'error', label: 'Part of the error', attributes: { maxlength: 200, autocomplete: 'off' } },
  ],
  ids: [
    { ...id, name: 'workspace', label: 'Workspace (id)' },
    { ...id, name: 'principal', label: 'Principal (id)' },
    { ...text, name: 'request_id', label: 'Request (id)', attributes: { maxlength: 200, autocomplete: 'off', spellcheck: 'false' } },
  ],
  times: [
    { ...time, name: 'from', label: 'Filed since', hint: '30m, 2h or 7d ago, or an instant' },
    { ...time, name: 'to', label: 'Filed before', hint: 'Such as 2026-01-31T12:00:00Z' },
    { name: 'sort', label: 'Order', hint: 'By the time of filing', type: 'select', isFilter: true, required: true, options: sorts },
  ],
})

/** Puts the texts that were sent into their fields. */
export const fillFields = (fields: readonly Field[], texts: Readonly<Record<string, string | number | undefined>>): Field[] =>
  fields.map((field) => {
    const value = String(texts[field.name] ?? '')
    const { options } = field
    const isOther = options !== undefined && value !== '' && !options.some((option) => option.value === value)
    return {
      ...field,
      values: [value === '' && field.name === 'sort' ? '-created_at' : value],
      ...(isOther && { options: [...options, { value, label: value }] }),
    }
  })
