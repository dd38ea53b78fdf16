import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Maximum groups in an answer. */
const maxGroups = 1_000

/** Query parameters of an aggregate (docs/contract/records.md#aggregates). */
export const aggregateQuery = schema(
  t.Object({
    metrics: t.String({
      description: '1 to 10 of count, sum:f, avg:f, min:f, max:f and distinct:f, separated by commas; f is a field key.',
    }),
    group_by: t.Optional(
      t.String({
        description: 'Up to 3 field keys, or f:day, f:week, f:month, f:quarter or f:year of created_at or a date field; by commas.',
      }),
    ),
    tz: t.Optional(t.String({ description: "IANA zone in which days begin; default: the workspace's." })),
    q: t.Optional(t.String({ description: 'Text contained in any string or text field.' })),
    filter: t.Optional(t.String({ description: 'JSON of a filter: {field, op, value}, an array, or {all}, {any} or {not}.' })),
    sort: t.Optional(t.String({ description: 'One of the requested groups or metrics; default: the groups in their order.' })),
    dir: t.Optional(t.Enum(['asc', 'desc'], { description: 'Default: desc for a metric, else asc.' })),
    limit: t.Integer({ minimum: 1, maximum: maxGroups, default: 100 }),
  }),
)

/** Groups of records with their metrics. */
export const aggregateAnswer = schema(
  t.Object(
    {
      groups: t.Array(
        t.Object({
          by: t.Record(t.String(), t.Unknown(), { description: 'The value of each group as requested; null for records without one.' }),
          metrics: t.Record(t.String(), t.Unknown(), {
            description: 'By metric as requested: a number, text, null for no value; of a currency field [{amount, code}].',
          }),
        }),
      ),
      total_groups: t.Integer({ description: 'How many groups there are, exactly.' }),
    },
    { title: 'RecordAggregate' },
  ),
)
