import type { Field } from '#api/pages/fields/field.ts'

/** The controls for a visitor's name and email address. */
export const personFields = (name: string, email: string, options: Pick<Field, 'required'> = {}): Field[] => [
  { name: 'name', label: 'Your name', type: 'text', values: [name], attributes: { autocomplete: 'name', maxlength: 200 }, ...options },
  { name: 'email', label: 'Your email', type: 'email', values: [email], attributes: { autocomplete: 'email', maxlength: 320 }, ...options },
]
