import { randomUUID } from 'node:crypto'
import { Html, template } from '#api/pages/template.ts'

/** A form control with its label and its error message. */
export interface Field {
  /** Name in the request, also part of the element's id. */
  readonly name: string
  readonly label: string
  readonly type:
    | 'text'
    | 'email'
    | 'password'
    | 'number'
    | 'date'
    | 'time'
    | 'datetime-local'
    | 'url'
    | 'tel'
    | 'textarea'
    | 'select'
    | 'radio'
    | 'checkboxes'
    | 'checkbox'
  /** The checked values of checkboxes, else one text; an empty list equals one empty text. */
  readonly values?: readonly string[]
  /** Options with a `group` are shown together under its heading. */
  readonly options?: readonly Option[]
  readonly required?: boolean
  /** Set for a field of a search, whose label does not say that it is optional. */
  readonly isFilter?: true
  /** Text of the choice that is none, in a select that is not required. */
  readonly blank?: string
  readonly hint?: string
  readonly error?: string
  /** Further attributes, such as autocomplete, maxlength, step. */
  readonly attributes?: Readonly<Record<string, string | number>>
}

interface Option {
  readonly value: string
  readonly label: string
  readonly group?: string
}

interface RenderedField extends Field {
  readonly values: readonly string[]
  readonly chosen: ReadonlySet<string>
  readonly options: readonly Option[]
  readonly groups: readonly (readonly [name: string, options: readonly Option[]])[]
  readonly described: string
  readonly attributes: Readonly<Record<string, string | number>>
  /** Whether the field takes the focus when the page opens; the first field with an error does. */
  readonly isFirst: boolean
  /** Returns the mark of options, which are rendered by themselves. */
  readonly placeOptions: (options: readonly Option[]) => string
}

const renderTemplate = template<RenderedField>(new URL('field.eta', import.meta.url))
const renderOptions = template<{ readonly field: RenderedField; readonly options: readonly Option[] }>(
  new URL('options.eta', import.meta.url),
)

/** Renders fields one below the other; the first with an error takes the focus. */
export const renderFields = (fields: readonly Field[]): Html => new Html([...renderFieldPieces(fields)].join(''))

/** The pieces of what `renderFields` renders. Each takes under 10 ms. */
export function* renderFieldPieces(fields: readonly Field[]): Generator<string> {
  const first = fields.findIndex(({ error }) => error !== undefined)
  for (const [index, field] of fields.entries()) yield* renderField(field, index === first)
}

/** Stands in the text of a field for its options. Nobody can know it, so no other text holds it. */
const optionsMark = `<!--${randomUUID()}-->`

/** Options that are rendered in one go: 500 of 200 characters that are escaped took 56 ms. */
const maxOptionsAtOnce = 50

function* renderField(field: Field, isFirst: boolean): Generator<string> {
  const { name, hint, error, options = [], attributes = {} } = field
  const values = field.values?.length ? field.values : ['']
  const chosen = new Set(values)
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ')
  const groups = [...Map.groupBy(options, ({ group = '' }) => group)]
  const placed: (readonly Option[])[] = []
  const placeOptions = (some: readonly Option[]) => {
    placed.push(some)
    return optionsMark
  }
  const shown = { ...field, values, chosen, options, groups, attributes, described, isFirst, placeOptions }
  const [start = '', ...rest] = renderTemplate(shown).text.split(optionsMark)
  yield start
  for (const [index, text] of rest.entries()) {
    const some = placed[index] ?? []
    for (let at = 0; at < some.length; at += maxOptionsAtOnce)
      yield renderOptions({ field: shown, options: some.slice(at, at + maxOptionsAtOnce) }).text
    yield text
  }
}

/** Adds errors, given by field name, to the fields. */
export const withErrors = (fields: readonly Field[], errors: Readonly<Record<string, string>>): Field[] =>
  fields.map((field) => {
    const error = Object.hasOwn(errors, field.name) ? errors[field.name] : undefined
    return error === undefined ? field : { ...field, error }
  })
