import { type Html, template } from '#api/pages/template.ts'

/** A control of a form with its label, and what is wrong with it beside it. */
export interface Field {
  /** Its name in the request, which is also part of its id. */
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
  /** What it holds: the chosen ones of checkboxes, else one text; none is the same as an empty text. */
  readonly values?: readonly string[]
  /** Radios with a `group` stand below it, close together; those of one group follow each other. */
  readonly options?: readonly Option[]
  readonly required?: boolean
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

interface Drawn extends Field {
  readonly values: readonly string[]
  readonly options: readonly Option[]
  readonly groups: readonly (readonly [name: string, options: readonly Option[]])[]
  readonly described: string
  readonly attributes: Readonly<Record<string, string | number>>
  /** Whether it takes the focus when the page opens: the first one with an error does. */
  readonly isFirst: boolean
}

const draw = template<Drawn>(new URL('field.eta', import.meta.url))

/** Fields one below the other; the first that is wrong has the focus. */
export function drawFields(fields: readonly Field[]): Html {
  const first = fields.findIndex(({ error }) => error !== undefined)
  return joined(fields.map((field, index) => drawField(field, index === first)))
}

function drawField(field: Field, isFirst: boolean): Html {
  const { name, hint, error, options = [], attributes = {} } = field
  const values = field.values?.length ? field.values : ['']
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ')
  const groups = [...Map.groupBy(options, ({ group = '' }) => group)]
  return draw({ ...field, values, options, groups, attributes, described, isFirst })
}

const pieces = template<{ readonly parts: readonly Html[] }>(new URL('pieces.eta', import.meta.url))

/** Pieces of a page as one. */
export const joined = (parts: readonly Html[]): Html => pieces({ parts })

/** The error of each field that a list of errors names. */
export const withErrors = (fields: readonly Field[], errors: Readonly<Record<string, string>>): Field[] =>
  fields.map((field) => {
    const error = Object.hasOwn(errors, field.name) ? errors[field.name] : undefined
    return error === undefined ? field : { ...field, error }
  })
