import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import type { CompiledQuery } from '#shared/core/records/query/query.ts'
import { cachedStatement, tableOf } from '#shared/core/records/store.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { date, json } from '#shared/platform/db/statements/sql-types.ts'
import { asUnprepared, prepareStatement, type Statement, slot } from '#shared/platform/db/statements/statement.ts'

/** A query of records of one type, with the caller's access to them. */
interface Read {
  readonly type: RecordType
  readonly access: RecordAccess
  readonly query: CompiledQuery
}

/** Open amounts of invoices, as decimal text: by currency, the ten largest debtors, and the ten invoices overdue for longest. */
export interface Receivables {
  readonly currencies: readonly {
    readonly currency: string
    readonly count: number
    readonly open: string
    readonly overdue: string
    readonly current: string
    readonly d1_30: string
    readonly d31_60: string
    readonly d61_90: string
    readonly d90_plus: string
  }[]
  readonly debtors: readonly { readonly name: string; readonly email: string; readonly currency: string; readonly open: string }[]
  readonly oldest: readonly {
    readonly invoice_id: string
    readonly number: string
    readonly customer_name: string
    readonly due_date: string
    readonly amount: string
    readonly currency: string
  }[]
}

const columns = {
  currencies: json.as<Receivables['currencies']>().notNull,
  debtors: json.as<Receivables['debtors']>().notNull,
  oldest: json.as<Receivables['oldest']>().notNull,
}

const columnOf = ({ type }: Read, key: string): string => type.fieldByKey.get(key)?.column ?? 'id'
const codeOf = ({ type }: Read, key: string): string => type.fieldByKey.get(key)?.codeColumn ?? 'id'

/** SQL of an invoice's text field; empty text where the field is empty or the caller may not see it. */
const textOf = (read: Read, key: string): Knex.Raw => {
  const visible = read.access.fieldWhere(key)
  const column = columnOf(read, key)
  return visible ? builder.raw(`coalesce(case when ? then ?? end, '')`, [visible, column]) : builder.raw(`coalesce(??, '')`, [column])
}

const aged = (condition: string) => `coalesce(sum(open) filter (where ${condition}), 0)::text`

/**
 * Open invoices, each less its payments in the same currency. The sums by currency and the list of debtors are both built on `owed`, which
 * groups the open invoices once by debtor and age. With 10,000 invoices this takes 28 ms of processor time, and 37 ms with one pass over
 * the invoices for each.
 */
const text = `
  with paid as (
    select ?? as invoice_id, ?? as code, sum(??) as amount from ? where ? and ?? is not null group by 1, 2
  ),
  invoice as (
    select id, ?? as total, ?? as currency, ?? as due, ? as number, ? as name, ? as email from ? where ? and ?? is not null
  ),
  open as materialized (
    select invoice.id, invoice.currency, invoice.due, invoice.number, invoice.name, invoice.email,
      coalesce(invoice.total - paid.amount, invoice.total) as open,
      ?::date - invoice.due as days
    from invoice left join paid on paid.invoice_id = invoice.id and paid.code = invoice.currency
    where coalesce(invoice.total > paid.amount, invoice.total > 0)
  ),
  owed as materialized (
    select currency, name, email, sum(open) as open, count(*) as count,
      case when days > 90 then 4 when days > 60 then 3 when days > 30 then 2 when days > 0 then 1 else 0 end as age
    from open group by currency, name, email, age
  )
  select
    (
      select coalesce(json_agg(one order by one.currency), '[]') from (
        select currency, sum(count)::integer as count, sum(open)::text as open, ${aged('age > 0')} as overdue, ${aged('age = 0')} as current,
          ${aged('age = 1')} as d1_30, ${aged('age = 2')} as d31_60, ${aged('age = 3')} as d61_90, ${aged('age = 4')} as d90_plus
        from owed group by currency
      ) as one
    ) as currencies,
    (
      select coalesce(json_agg(json_build_object('name', name, 'email', email, 'currency', currency, 'open', sum::text) order by place), '[]')
      from (
        select name, email, currency, sum(open), row_number() over (order by sum(open) desc, name, email, currency) as place
        from owed group by name, email, currency order by place limit 10
      ) as one
    ) as debtors,
    (
      select coalesce(json_agg(json_build_object(
        'invoice_id', id, 'number', number, 'customer_name', name, 'due_date', due, 'amount', open::text, 'currency', currency
      ) order by due, id), '[]')
      from (select * from open where days > 0 order by due, id limit 10) as one
    ) as oldest`

/** Builds the statement of the receivables. Days overdue are counted from `today`. */
export function receivablesStatement(invoices: Read, payments: Read): (today: string) => Statement<Receivables> {
  const isNone = ({ access }: Read) => access.verdict === 'none'
  const whereOf = (read: Read) => (isNone(read) ? builder.raw('false') : (read.query.whereSql() ?? builder.raw('true')))
  const paramsOf = (read: Read) => (isNone(read) ? {} : read.query.params())
  const fill = cachedStatement(
    invoices.access,
    `receivables ${payments.access.signature} ${invoices.query.shape} ${payments.query.shape}`,
    () => {
      const query = builder.raw(text, [
        ...[columnOf(payments, 'invoice_id'), codeOf(payments, 'amount'), columnOf(payments, 'amount')],
        ...[tableOf(payments.type), whereOf(payments), columnOf(payments, 'invoice_id')],
        ...[columnOf(invoices, 'total'), codeOf(invoices, 'total'), columnOf(invoices, 'due_date')],
        ...['number', 'customer_name', 'customer_email'].map((key) => textOf(invoices, key)),
        ...[tableOf(invoices.type), whereOf(invoices), columnOf(invoices, 'total')],
        slot('today'),
      ])
      return prepareStatement(query, {
        params: { ...paramsOf(payments), ...paramsOf(invoices), today: date },
        columns,
      })
    },
  )
  return (today) => asUnprepared(fill({ ...payments.query.values, ...invoices.query.values, today }))
}
