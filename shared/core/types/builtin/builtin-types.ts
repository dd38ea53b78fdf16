import type { FieldRules } from '#shared/core/types/fields/field.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

/** A field of a built-in type. */
export interface BuiltinField {
  readonly key: string
  readonly label: string
  readonly type: FieldType
  readonly required?: true
  readonly unique?: true
  readonly autogen?: string
  readonly rules?: FieldRules
}

/** A type that every workspace has. */
export interface BuiltinType {
  readonly key: string
  readonly label: string
  readonly icon: string
  readonly fields: readonly BuiltinField[]
}

/**
 * The built-in types of a release. Types and fields are only added, never removed; every addition raises the version. A worker upgrades
 * workspaces whose version is lower (shared/core/types/builtin/upgrade.ts).
 */
export interface BuiltinDeclaration {
  readonly version: number
  readonly types: readonly BuiltinType[]
}

/** The types that every workspace has from the start (docs/contract/types-and-fields.md#built-in-types). */
const builtinTypes: readonly BuiltinType[] = [
  {
    key: 'accounts',
    label: 'Accounts',
    icon: 'book',
    fields: [
      { key: 'code', label: 'Code', type: 'string', required: true, unique: true },
      { key: 'name', label: 'Name', type: 'string', required: true },
      { key: 'kind', label: 'Kind', type: 'select', rules: { options: ['asset', 'liability', 'equity', 'revenue', 'expense'] } },
      { key: 'currency', label: 'Currency', type: 'string' },
      { key: 'description', label: 'Description', type: 'text' },
    ],
  },
  {
    key: 'invoices',
    label: 'Invoices',
    icon: 'receipt',
    fields: [
      { key: 'number', label: 'Number', type: 'string', unique: true, autogen: 'INV-{seq:5}' },
      { key: 'customer_name', label: 'Customer', type: 'string' },
      { key: 'customer_email', label: 'Customer email', type: 'email' },
      { key: 'issue_date', label: 'Issue date', type: 'date' },
      { key: 'due_date', label: 'Due date', type: 'date' },
      { key: 'status', label: 'Status', type: 'select', rules: { options: ['draft', 'open', 'paid', 'void'], default: 'draft' } },
      { key: 'total', label: 'Total', type: 'currency' },
      { key: 'notes', label: 'Notes', type: 'text' },
    ],
  },
  {
    key: 'payments',
    label: 'Payments',
    icon: 'credit-card',
    fields: [
      { key: 'amount', label: 'Amount', type: 'currency' },
      { key: 'invoice_id', label: 'Invoice', type: 'ref', rules: { ref_type: 'invoices' } },
      { key: 'paid_at', label: 'Paid at', type: 'datetime' },
      { key: 'provider', label: 'Provider', type: 'string' },
      { key: 'reference', label: 'Reference', type: 'string' },
      { key: 'link_id', label: 'Payment link', type: 'string' },
      { key: 'payer_name', label: 'Payer', type: 'string' },
      { key: 'payer_email', label: 'Payer email', type: 'email' },
    ],
  },
  {
    key: 'locations',
    label: 'Locations',
    icon: 'map-pin',
    fields: [
      { key: 'name', label: 'Name', type: 'string', required: true },
      { key: 'address', label: 'Address', type: 'text' },
      { key: 'timezone', label: 'Time zone', type: 'string' },
    ],
  },
]

/** The declaration of this release. */
export const builtinDeclaration: BuiltinDeclaration = { version: 1, types: builtinTypes }
