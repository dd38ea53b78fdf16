import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

const highestNext = 1e15

/** The input that enables auto-numbering. */
export const autogenInput = schema(
  t.Object({
    pattern: t.String({ minLength: 1, description: 'Text with one {seq} token and date tokens, such as INV-{yyyy}-{seq:4:yearly}.' }),
    next: t.Optional(nullable(t.Integer({ maximum: highestNext, description: 'Above 0: the next number is at least this.' }))),
  }),
)
export type AutogenInput = TypeOf<typeof autogenInput>
