import { type Html, template } from '#api/pages/template.ts'

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
  readonly options: readonly Option[]
  readonly groups: readonly (readonly [name: string, options: readonly Option[]])[]
  readonly described: string
  readonly attributes: Readonly<Record<string, string | number>>
  /** Whether the field takes the focus when the page opens; the first field with an error does. */
  readonly isFirst: boolean
}

const renderTemplate = template<RenderedField>(new URL('field.eta', import.meta.url))

/** Renders fields one below the other; the first with an error takes the focus. */
export function renderFields(fields: readonly Field[]): Html {
  const first = fields.findIndex(({ error }) => error !== undefined)
  return joinHtml(fields.map((field, index) => renderField(field, index === first)))
}

function renderField(field: Field, isFirst: boolean): Html {
  const { name, hint, error, options = [], attributes = {} } = field
  const values = field.values?.length ? field.values : ['']
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ')
  const groups = [...Map.groupBy(options, ({ group = '' }) => group)]
  return renderTemplate({ ...field, values, options, groups, attributes, described, isFirst })
}

const renderPieces = template<{ readonly parts: readonly Html[] }>(new URL('pieces.eta', import.meta.url))

/** Joins parts of a page. */
const joinHtml = (parts: readonly Html[]): Html => renderPieces({ parts })

/** Adds errors, given by field name, to the fields. */
export const withErrors = (fields: readonly Field[], errors: Readonly<Record<string, string>>): Field[] =>
  fields.map((field) => {
    const error = Object.hasOwn(errors, field.name) ? errors[field.name] : undefined
    return error === undefined ? field : { ...field, error }
  })
