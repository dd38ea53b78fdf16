import { ids } from '#api/http/example-ids.ts'
import type { Call, Walked, WalkedRoutes } from '#test/api/walk/example.ts'
import { linkedPage, nextQuery } from '#test/api/walk/second-page.ts'
import type { Place } from '#test/support/things.ts'

const forms = '/v1/orgs/:orgId/forms'
const one = `${forms}/:formId`

const keyOf = ({ body }: Call): string => (body as { key: string }).key
const functionOf = ({ body }: Call): string => (body as { function_id: string }).function_id
const further = [{ needs: 'functions:invoke', on: functionOf }] as const

/** The form is made before the permission is asked for its key, so the call carries both. */
const keys = new Map<string, string>()
async function aForm({ things }: Place) {
  const { id, key } = await things.form()
  keys.set(id, key)
  return { [ids.form]: id }
}
const onForm = ({ params }: Call): string => keys.get(params?.formId ?? '') ?? ''
const ofForm: Walked = { needs: 'forms:manage', on: onForm, things: aForm }

const open = async ({ things }: Place) => {
  await things.visitors()
  return { newsletter: (await things.form()).key }
}

/** Forms, their submissions and their public addresses. */
export const formExamples: WalkedRoutes = {
  [`GET ${forms}`]: { needs: 'forms:manage', perItem: true, secondPage: linkedPage('/forms', (things) => things.form()) },
  [`POST ${forms}`]: {
    needs: 'forms:manage',
    on: keyOf,
    keyInside: true,
    further,
    things: async ({ things }) => ({ newsletter: things.name(), [ids.function]: await things.fn() }),
  },
  [`GET ${one}`]: ofForm,
  [`PUT ${one}`]: {
    ...ofForm,
    further,
    things: async (place) => {
      const form = await aForm(place)
      return { ...form, newsletter: keys.get(form[ids.form]) ?? '', [ids.function]: await place.things.fn() }
    },
  },
  [`DELETE ${one}`]: ofForm,
  [`GET ${one}/submissions`]: {
    ...ofForm,
    badQuery: 'limit=0',
    secondPage: async (place) => {
      const { id: formId } = await place.things.form()
      for (const _ of [1, 2]) await place.things.submission(formId)
      return { params: { formId }, query: await nextQuery(place, `/forms/${formId}/submissions`) }
    },
  },
  [`POST ${one}/submissions/:submissionId/retry`]: {
    ...ofForm,
    things: async (place) => {
      const form = await aForm(place)
      return { ...form, [ids.submission]: await place.things.submission(form[ids.form]) }
    },
  },
  'GET /forms/:orgId/:formKey': { needs: 'public', things: open },
  'POST /forms/:orgId/:formKey': { needs: 'public', things: open },
  'GET /f/:orgId/:formKey': { needs: 'public', things: open },
  'POST /f/:orgId/:formKey': { needs: 'public', things: open },
}
