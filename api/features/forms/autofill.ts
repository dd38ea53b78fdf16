import type { FormField } from '#shared/features/forms/schemas.ts'

/** Common keys of fields about the visitor, by the autofill token that fits them (HTML standard, Autofill; WCAG 2.2, 1.3.5). */
const keysByToken: Readonly<Record<string, readonly string[]>> = {
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

const tokenByKey = new Map(Object.entries(keysByToken).flatMap(([token, keys]) => keys.map((key) => [key, token] as const)))

const tokenOfType: Readonly<Record<string, (key: string) => string | undefined>> = {
  string: (key) => tokenByKey.get(key),
  text: (key) => (tokenByKey.get(key) === 'address-line1' ? 'street-address' : undefined),
  date: (key) => (/^(?:birthday|birth_date|date_of_birth)$/.test(key) ? 'bday' : undefined),
  email: () => 'email',
  url: () => 'url',
}

/** The autocomplete token of a field; undefined when none fits. */
export const autofillOf = ({ type, key }: Pick<FormField, 'type' | 'key'>): string | undefined => tokenOfType[type]?.(key)
