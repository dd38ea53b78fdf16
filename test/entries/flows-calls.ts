import '#test/support/one-at-a-time.ts'
import '#test/features/flows/calls.test.ts'
