import type { FormField } from '#shared/forms/form.ts'

/** Keys that fields about their visitor mostly have, with what a browser knows of that (HTML standard, Autofill; WCAG 2.2, 1.3.5). */
const known: Readonly<Record<string, readonly string[]>> = {
  name: ['name', 'full_name', 'your_name', 'contact_name'],
  'given-name': ['first_name', 'given_name', 'firstname'],
  'family-name': ['last_name', 'family_name', 'surname', 'lastname'],
  organization: ['company', 'organization', 'organisation', 'company_name'],
  'organization-title': ['job_title'],
  tel: ['phone', 'telephone', 'mobile', 'phone_number', 'tel'],
  'address-line1': ['address', 'street', 'street_address', 'address_line1'],
  'address-line2': ['address_line2'],
  'address-level2': ['city', 'town'],
  'address-level1': ['state', 'region', 'province'],
  'postal-code': ['zip', 'zip_code', 'postal_code', 'postcode'],
  'country-name': ['country'],
}

const byKey = new Map(Object.entries(known).flatMap(([token, keys]) => keys.map((key) => [key, token] as const)))

const byType: Readonly<Record<string, (key: string) => string | undefined>> = {
  string: (key) => byKey.get(key),
  text: (key) => (byKey.get(key) === 'address-line1' ? 'street-address' : undefined),
  date: (key) => (/^(?:birthday|birth_date|date_of_birth)$/.test(key) ? 'bday' : undefined),
  email: () => 'email',
  url: () => 'url',
}

/** What a browser may fill into a field by itself; undefined where it cannot know. */
export const autofillOf = ({ type, key }: Pick<FormField, 'type' | 'key'>): string | undefined => byType[type]?.(key)
