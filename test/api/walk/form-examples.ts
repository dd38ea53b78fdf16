import { type Call, type Example, type Examples, form as sent } from '#test/api/walk/example.ts'
import { linkedPage, nextQuery } from '#test/api/walk/second-page.ts'
import type { Place } from '#test/support/things.ts'

const forms = '/v1/orgs/:orgId/forms'
const one = `${forms}/:formId`

const input = ({ keys }: Place, key: string, more: object = {}) => ({
  key,
  name: 'Made',
  fields: [{ key: 'email', label: 'Email', type: 'email', required: true }],
  target: { object_type: keys.type },
  published: true,
  ...more,
})

const keyOf = ({ body }: Call): string => (body as { key: string }).key
const functionOf = ({ body }: Call): string => (body as { function_id: string }).function_id
const further = [{ needs: 'functions:invoke', on: functionOf }] as const

/** The form is made before the permission is asked for its key, so the call carries both. */
const keys = new Map<string, string>()
async function aForm({ things }: Place) {
  const { id, key } = await things.form()
  keys.set(id, key)
  return { formId: id }
}
const onForm = ({ params }: Call): string => keys.get(params?.formId ?? '') ?? ''
const ofForm: Pick<Example, 'needs' | 'on'> = { needs: 'forms:manage', on: onForm }

const open = async ({ things }: Place) => {
  await things.visitors()
  return { formKey: (await things.form()).key }
}

/** Forms, their submissions and their public addresses. */
export const formExamples: Examples = {
  [`GET ${forms}`]: { needs: 'forms:manage', perItem: true, secondPage: linkedPage('/forms', (things) => things.form()), call: () => ({}) },
  [`POST ${forms}`]: {
    needs: 'forms:manage',
    on: keyOf,
    keyInside: true,
    further,
    call: async (place) => ({ body: input(place, place.things.name(), { function_id: await place.things.fn() }) }),
  },
  [`GET ${one}`]: { ...ofForm, call: async (place) => ({ params: await aForm(place) }) },
  [`PUT ${one}`]: {
    ...ofForm,
    further,
    call: async (place) => {
      const params = await aForm(place)
      return { params, body: input(place, keys.get(params.formId) ?? '', { function_id: await place.things.fn() }) }
    },
  },
  [`DELETE ${one}`]: { ...ofForm, call: async (place) => ({ params: await aForm(place) }) },
  [`GET ${one}/submissions`]: {
    ...ofForm,
    badQuery: 'limit=0',
    secondPage: async (place) => {
      const { id: formId } = await place.things.form()
      for (const _ of [1, 2]) await place.things.submission(formId)
      return { params: { formId }, query: await nextQuery(place, `/forms/${formId}/submissions`) }
    },
    call: async (place) => ({ params: await aForm(place) }),
  },
  [`POST ${one}/submissions/:submissionId/retry`]: {
    ...ofForm,
    call: async (place) => {
      const params = await aForm(place)
      return { params: { ...params, submissionId: await place.things.submission(params.formId) } }
    },
  },
  'GET /forms/:orgId/:formKey': { needs: 'public', call: async (place) => ({ params: await open(place) }) },
  'POST /forms/:orgId/:formKey': {
    needs: 'public',
    call: async (place) => ({ params: await open(place), body: { values: { email: 'vera@example.com' } } }),
  },
  'GET /f/:orgId/:formKey': { needs: 'public', call: async (place) => ({ params: await open(place) }) },
  'POST /f/:orgId/:formKey': {
    needs: 'public',
    call: async (place) => ({ params: await open(place), ...sent({ email: 'vera@example.com' }) }),
  },
}
